package device

import "github.com/svc-gateway/svc/scanner/internal/text"

// Line is a keyword that comes before a secret in lines of device configurations, and what tells such a line
// from prose.
type Line struct {
	Keyword string   // a whole word
	First   text.Set // the first words of such lines; nil: any
	Within  string   // a word somewhere before the keyword; "" : none is needed
	Without string   // a word that no such line has before the keyword
	Options text.Set // words that may stand between the keyword and the secret
	Number  bool     // a number of any size may, too
	Typed   bool     // one option at least must, or the digit of a type
	Indexed bool     // a number stands before the keyword
	Named   bool     // a name in hex stands behind it, and the secret is in hex, too
	Alone   bool     // the keyword begins an indented line, and the secret, which is no word, ends it

	Examples []Example
}

// Example is a line, and what becomes of it. An empty Out says that it stays as it is.
type Example struct{ In, Out string }

// Words of configurations of Cisco IOS, NX-OS and ASA, Arista EOS, Juniper Junos, Huawei VRP,
// Fortinet FortiOS and others, from their command references.
var (
	serverLines = text.Words(`tacacs-server radius-server tacacs radius hwtacacs-server ldap-server server-private server client failover aaa-server pac`)
	encodings   = text.Words(`0 5 6 7 8 9 10 hexadecimal hexadecimal-text hex ascii-text ascii cipher plain simple encrypted text irreversible-cipher ciphertext`)
	digests     = text.Words(`hexadecimal hexadecimal-text ascii-text 0 5 6 7 8 9 10 md5 sha sha1 sha-1 sha256 sha-256 sha384 sha512 sha-512 sha2 hmac-md5 hmac-sha hmac-sha-1 hmac-sha-256 hmac-sha-512 hmac-sha1 hmac-sha256 hmac-sha512 cmac-aes-128 aes-128-cmac type value cipher plain simple text encrypted keyed-md5 keyed-sha1`)
	privacies   = text.Words(`des 3des des56 aes aes128 aes192 aes256 aes-128 aes-192 aes-256 128 192 256 cipher plain encrypted localizedkey 0 7 8`)
	// Notification are the options of snmp-server host.
	Notification = text.Words(`vrf management informs inform traps trap version 1 2c 3 auth noauth priv udp-port use-vrf host-trap`)
)

// Lines are the keywords and examples of each.
var Lines = []Line{
	{Keyword: "key", First: serverLines, Options: encodings, Examples: []Example{
		{"tacacs-server host 10.1.1.1 key 7 0822455D0A16", "tacacs-server host 10.1.1.1 key 7 REDACTED"},
		{"radius-server key cisco", "radius-server key REDACTED"},
		{" pac key 7 0822455D0A16", " pac key 7 REDACTED"},
		{"no tacacs-server key Abc123xyz", "no tacacs-server key REDACTED"},
		{"+ radius-server key cisco", "+ radius-server key REDACTED"},
		{"+tacacs-server key cisco", "+tacacs-server key REDACTED"},
		{"-  server 10.1.1.1 key cisco", "-  server 10.1.1.1 key REDACTED"},
		{"- no tacacs-server key cisco", "- no tacacs-server key REDACTED"},
		{"! tacacs-server key cisco", "! tacacs-server key REDACTED"},
		{"< tacacs-server key cisco", "< tacacs-server key REDACTED"},
		{"| tacacs-server key cisco", "| tacacs-server key REDACTED"},
		{"12: radius-server key cisco", "12: radius-server key REDACTED"},
		{"12 radius-server key cisco", "12 radius-server key REDACTED"},
		{"  12  server 10.1.1.1 key cisco", "  12  server 10.1.1.1 key REDACTED"},
		{"configs/r1.cfg:12:radius-server key cisco", "configs/r1.cfg:12:radius-server key REDACTED"},
		{"%PARSER-5-CFGLOG_LOGGEDCMD: User:a  logged command:tacacs-server key cisco", "%PARSER-5-CFGLOG_LOGGEDCMD: User:a  logged command:tacacs-server key REDACTED"},
		{"the server key is rotated", ""},
		{"- client key exchange", ""},
		{"no server key found", ""},
		{"12 server key ideas", ""},
	}},
	{Keyword: "key", First: text.Words("key"), Options: encodings, Typed: true, Examples: []Example{
		{" key 7 0822455D0A16", " key 7 REDACTED"},
		{"+ key 7 0605063A4F41", "+ key 7 REDACTED"},
		{"-key 7 0605063A4F41", "-key 7 REDACTED"},
		{" key chain ospf", ""},
		{"key 1", ""},
	}},
	{Keyword: "key", First: text.Words("key"), Options: text.Words("0 7"), Typed: true, Named: true, Examples: []Example{
		{"   key 0abc 7 06070D221D1C5A", "   key 0abc 7 REDACTED"},
		{"   key 0abcd1ef 0 1234abcdef567890 fallback", "   key 0abcd1ef 0 REDACTED fallback"},
		{"key abc 7 days", ""},
		{"key 2 7 decade", ""},
	}},
	{Keyword: "key", First: text.Words("key"), Alone: true, Examples: []Example{
		{" address ipv4 10.1.1.1\n key Cisco123\n", " address ipv4 10.1.1.1\n key REDACTED\n"},
		{"-  key Cisco123\n", "-  key REDACTED\n"},
		{"key Cisco123\n", ""},
		{" key value\n", ""},
		{" key Cisco123 opens it\n", ""},
	}},
	{Keyword: "key", Within: "isakmp", Options: encodings, Examples: []Example{
		{"crypto isakmp key 6 AAB_cc address 10.0.0.1", "crypto isakmp key 6 REDACTED address 10.0.0.1"},
		{"crypto isakmp key rsa", ""},
	}},
	{Keyword: "key", First: text.Words("set"), Options: encodings, Typed: true, Examples: []Example{
		{"set vpn key hexadecimal 0a1b2c", "set vpn key hexadecimal REDACTED"},
		{"set table key name", ""},
	}},
	{Keyword: "key", Within: "keys", First: text.Words("set"), Examples: []Example{
		{`set system license keys key "aa bb"`, `set system license keys key "REDACTED"`},
		{"set the license key name", ""},
	}},
	{Keyword: "key", Within: "md5", Indexed: true, Examples: []Example{
		{`set protocols ospf area 0 interface ge-0/0/0 authentication md5 0 key "hunter2x"`, `set protocols ospf area 0 interface ge-0/0/0 authentication md5 0 key "REDACTED"`},
		{`authentication { md5 1 key "$9$abcdefgh"; }`, `authentication { md5 1 key "REDACTED"; }`},
		{"the md5 of the key is shown", ""},
	}},
	{Keyword: "key", Within: "authentication", Options: encodings, Typed: true, Examples: []Example{
		{" isis authentication key 7 0822455D0A16", " isis authentication key 7 REDACTED"},
		{"authentication key chain x", ""},
	}},
	{Keyword: "md5-key", First: text.Words("set add"), Number: true, Examples: []Example{
		{`set md5-key 1 "abc"`, `set md5-key 1 "REDACTED"`},
		{"the md5-key is set", ""},
	}},
	{Keyword: "snmp-community-string", First: text.Words("set"), Examples: []Example{
		{"set deviceconfig system snmp-setting access-setting version v2c snmp-community-string public", "set deviceconfig system snmp-setting access-setting version v2c snmp-community-string REDACTED"},
		{"the snmp-community-string is set", ""},
	}},
	{Keyword: "server-key", Options: encodings, Examples: []Example{
		{" client 10.1.1.1 server-key 7 0822455D0A16", " client 10.1.1.1 server-key 7 REDACTED"},
		{"--server-key file", ""},
		{"the server-key is set", ""},
	}},
	{Keyword: "authentication-key", Options: digests, Number: true, Examples: []Example{
		{" ip ospf authentication-key 0 cisco", " ip ospf authentication-key 0 REDACTED"},
		{"ntp authentication-key 12 md5 cisco 7", "ntp authentication-key 12 md5 REDACTED 7"},
		{"the authentication-key is set", ""},
	}},
	{Keyword: "message-digest-key", Options: digests, Number: true, Examples: []Example{
		{"ip ospf message-digest-key 3 md5 7 02050D4808", "ip ospf message-digest-key 3 md5 7 REDACTED"},
		{"the message-digest-key 1 is set", ""},
	}},
	{Keyword: "set-key", Options: encodings, Examples: []Example{
		{" security wpa psk set-key ascii 0 cisco123", " security wpa psk set-key ascii 0 REDACTED"},
		{"the set-key is used", ""},
	}},
	{Keyword: "wpa-psk", Options: encodings, Typed: true, Examples: []Example{
		{"wpa-psk ascii 7 06140A2F", "wpa-psk ascii 7 REDACTED"},
		{"the wpa-psk mode", ""},
	}},
	{Keyword: "psk", Options: encodings, Typed: true, Examples: []Example{
		{" wpa psk ascii cisco123", " wpa psk ascii REDACTED"},
		{"wpa psk mode", ""},
	}},
	{Keyword: "key-hash", Options: digests, Examples: []Example{
		{" key-hash sha256 aabbcc", " key-hash sha256 REDACTED"},
		{"the key-hash is shown", ""},
	}},
	{Keyword: "authentication", Options: text.Words("text simple plain"), Typed: true, Examples: []Example{
		{"  authentication text cisco", "  authentication text REDACTED"},
		{"standby 2 authentication text cisco", "standby 2 authentication text REDACTED"},
		{"authentication by text message", ""},
	}},
	{Keyword: "authentication", First: text.Words("standby vrrp glbp"), Without: "md5", Examples: []Example{
		{" standby 1 authentication cisco", " standby 1 authentication REDACTED"},
		{"+ standby 1 authentication cisco", "+ standby 1 authentication REDACTED"},
		{" standby 1 authentication md5 key-chain HSRP", ""},
	}},
	{Keyword: "authentication", First: text.Words("ip ipv6"), Within: "nhrp", Examples: []Example{
		{" ip nhrp authentication cisco", " ip nhrp authentication REDACTED"},
		{" ip rip authentication key-chain cisco", ""},
	}},
	{Keyword: "key-octet-string", Options: encodings, Examples: []Example{
		{" key-octet-string 7 0822455D0A16 cryptographic-algorithm AES_256_CMAC", " key-octet-string 7 REDACTED cryptographic-algorithm AES_256_CMAC"},
		{"the key-octet-string is set", ""},
	}},
	{Keyword: "private-key", First: text.Words("set"), Within: "wireguard", Examples: []Example{
		{"set interfaces wireguard wg0 private-key 'Zx81Qm0aVb72Lc93NdKe64PfRg0='", "set interfaces wireguard wg0 private-key 'REDACTED'"},
		{"set service https private-key tls", ""},
	}},
	{Keyword: "authentication-mode", Options: digests, Number: true, Typed: true, Examples: []Example{
		{"ospf authentication-mode md5 1 cipher abc", "ospf authentication-mode md5 1 cipher REDACTED"},
		{"authentication-mode aaa", ""},
	}},
	{Keyword: "privacy-mode", Options: privacies, Typed: true, Examples: []Example{
		{"snmp-agent usm-user v3 u privacy-mode aes128 0822455D0A16", "snmp-agent usm-user v3 u privacy-mode aes128 REDACTED"},
		{"the privacy-mode is on", ""},
	}},
	{Keyword: "auth", First: text.Words("snmp-server snmp-agent snmp set"), Within: "user", Options: digests, Examples: []Example{
		{"snmp-server user a g v3 auth sha one priv aes 128 two", "snmp-server user a g v3 auth sha REDACTED priv aes 128 REDACTED"},
		{"snmp-server group g v3 auth read all", ""},
	}},
	{Keyword: "priv", First: text.Words("snmp-server snmp-agent snmp set"), Within: "user", Options: privacies, Examples: []Example{
		{"snmp-server user a g v3 priv aes 128 two", "snmp-server user a g v3 priv aes 128 REDACTED"},
		{"snmp-server group g v3 priv read all", ""},
	}},
	{Keyword: "community-map", First: text.Words("snmp-server"), Examples: []Example{
		{"snmp-server mib community-map abc:100 context x", "snmp-server mib community-map REDACTED:100 context x"},
		{"the community-map of towns", ""},
	}},
	{Keyword: "trap-group", First: text.Words("set"), Within: "snmp", Examples: []Example{
		{"set snmp trap-group abc categories link", "set snmp trap-group REDACTED categories link"},
		{"set trap-group abc", ""},
	}},
	{Keyword: "securityname", First: text.Words("snmp-agent"), Examples: []Example{
		{"snmp-agent target-host trap address udp-domain 10.1.1.1 params securityname abc", "snmp-agent target-host trap address udp-domain 10.1.1.1 params securityname REDACTED"},
		{"the securityname is bob", ""},
	}},
	{Keyword: "hostname", First: text.Words("ppp"), Within: "chap", Examples: []Example{
		{"ppp chap hostname abc", "ppp chap hostname REDACTED"},
		{"hostname abc", ""},
	}},
	{Keyword: "session-key", First: text.Words("set"), Options: text.Words("inbound outbound ah esp cipher authenticator"), Number: true, Typed: true, Examples: []Example{
		{"set session-key inbound ah 256 1234abcdef", "set session-key inbound ah 256 REDACTED"},
		{"set session-key outbound esp 256 cipher 12ab authenticator 34cd", "set session-key outbound esp 256 cipher REDACTED authenticator REDACTED"},
		{"set session-key inbound", ""},
	}},
	{Keyword: "authenticator", First: text.Words("set"), Within: "session-key", Examples: []Example{
		{"set session-key outbound esp 256 authenticator 34cd", "set session-key outbound esp 256 authenticator REDACTED"},
		{"set authenticator 34cd", ""},
	}},
	{Keyword: "cipher", First: text.Words("local-user super snmp-agent radius-server hwtacacs-server set user-interface ftp peer"), Examples: []Example{
		{"snmp-agent usm-user v3 u authentication-mode sha cipher %^%#ab%^%#", "snmp-agent usm-user v3 u authentication-mode sha cipher REDACTED"},
		{"set cipher suites", ""},
	}},
	{Keyword: "ENC", First: text.Words("set"), Examples: []Example{
		{"set psksecret ENC abcdef==", "set psksecret ENC REDACTED"},
		{"set auth-pwd ENC abcdef==", "set auth-pwd ENC REDACTED"},
		{"the ENC folder", ""},
	}},
	{Keyword: "host", First: text.Words("snmp-server"), Examples: []Example{
		{"snmp-server host 10.1.1.1 traps version 2c abc bgp", "snmp-server host 10.1.1.1 traps version 2c REDACTED bgp"},
		{"snmp-server host 10.1.1.1 vrf mgmt informs abc", "snmp-server host 10.1.1.1 vrf mgmt informs REDACTED"},
		{"snmp-server host inside 10.1.1.1 community abc", "snmp-server host inside 10.1.1.1 community REDACTED"},
		{"the snmp-server host is down", ""},
	}},
	{Keyword: "address", First: text.Words("syscon"), Examples: []Example{
		{"syscon address 10.1.1.1 abc", "syscon address 10.1.1.1 REDACTED"},
		{"ip address 10.1.1.1 abc", ""},
	}},
}
