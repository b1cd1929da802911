package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// configLine is a keyword that comes before a secret in lines of device configurations, and
// what tells such a line from prose.
type configLine struct {
	keyword string   // a whole word
	first   text.Set // the first words of such lines; nil: any
	within  string   // a word somewhere before the keyword; "" : none is needed
	without string   // a word that no such line has before the keyword
	options text.Set // words that may stand between the keyword and the secret
	number  bool     // a number of any size may, too
	typed   bool     // one option at least must, or the digit of a type
	indexed bool     // a number stands before the keyword
	alone   bool     // the keyword begins an indented line, and the secret, which is no word, ends it
}

// Words of configurations of Cisco IOS, NX-OS and ASA, Arista EOS, Juniper Junos, Huawei VRP,
// Fortinet FortiOS and others, from their command references.
var (
	serverLines  = text.Words(`tacacs-server radius-server tacacs radius hwtacacs-server ldap-server server-private server client failover aaa-server pac`)
	encodings    = text.Words(`0 5 6 7 8 9 10 hexadecimal hexadecimal-text hex ascii-text ascii cipher plain simple encrypted text irreversible-cipher ciphertext`)
	digests      = text.Words(`hexadecimal hexadecimal-text ascii-text 0 5 6 7 8 9 10 md5 sha sha1 sha-1 sha256 sha-256 sha384 sha512 sha-512 sha2 hmac-md5 hmac-sha hmac-sha-1 hmac-sha-256 hmac-sha-512 hmac-sha1 hmac-sha256 hmac-sha512 cmac-aes-128 aes-128-cmac type value cipher plain simple text encrypted keyed-md5 keyed-sha1`)
	privacies    = text.Words(`des 3des des56 aes aes128 aes192 aes256 aes-128 aes-192 aes-256 128 192 256 cipher plain encrypted localizedkey 0 7 8`)
	notification = text.Words(`vrf management informs inform traps trap version 1 2c 3 auth noauth priv udp-port use-vrf host-trap`)
)

// configLines are the keywords and an example of each.
var configLines = []struct {
	configLine
	examples []example
}{
	{configLine{keyword: "key", first: serverLines, options: encodings}, []example{
		{"tacacs-server host 10.1.1.1 key 7 0822455D0A16", "tacacs-server host 10.1.1.1 key 7 REDACTED"},
		{"radius-server key cisco", "radius-server key REDACTED"},
		{" pac key 7 0822455D0A16", " pac key 7 REDACTED"},
		{"the server key is rotated", ""},
	}},
	{configLine{keyword: "key", first: text.Words("key"), options: encodings, typed: true}, []example{
		{" key 7 0822455D0A16", " key 7 REDACTED"},
		{" key chain ospf", ""},
		{"key 1", ""},
	}},
	{configLine{keyword: "key", first: text.Words("key"), alone: true}, []example{
		{" address ipv4 10.1.1.1\n key Cisco123\n", " address ipv4 10.1.1.1\n key REDACTED\n"},
		{"key Cisco123\n", ""},
		{" key value\n", ""},
		{" key Cisco123 opens it\n", ""},
	}},
	{configLine{keyword: "key", within: "isakmp", options: encodings}, []example{
		{"crypto isakmp key 6 AAB_cc address 10.0.0.1", "crypto isakmp key 6 REDACTED address 10.0.0.1"},
		{"crypto isakmp key rsa", ""},
	}},
	{configLine{keyword: "key", first: text.Words("set"), options: encodings, typed: true}, []example{
		{"set vpn key hexadecimal 0a1b2c", "set vpn key hexadecimal REDACTED"},
		{"set table key name", ""},
	}},
	{configLine{keyword: "key", within: "keys", first: text.Words("set")}, []example{
		{`set system license keys key "aa bb"`, `set system license keys key "REDACTED"`},
		{"set the license key name", ""},
	}},
	{configLine{keyword: "key", within: "md5", indexed: true}, []example{
		{`set protocols ospf area 0 interface ge-0/0/0 authentication md5 0 key "hunter2x"`, `set protocols ospf area 0 interface ge-0/0/0 authentication md5 0 key "REDACTED"`},
		{`authentication { md5 1 key "$9$abcdefgh"; }`, `authentication { md5 1 key "REDACTED"; }`},
		{"the md5 of the key is shown", ""},
	}},
	{configLine{keyword: "key", within: "authentication", options: encodings, typed: true}, []example{
		{" isis authentication key 7 0822455D0A16", " isis authentication key 7 REDACTED"},
		{"authentication key chain x", ""},
	}},
	{configLine{keyword: "md5-key", first: text.Words("set add"), number: true}, []example{
		{`set md5-key 1 "abc"`, `set md5-key 1 "REDACTED"`},
		{"the md5-key is set", ""},
	}},
	{configLine{keyword: "snmp-community-string", first: text.Words("set")}, []example{
		{"set deviceconfig system snmp-setting access-setting version v2c snmp-community-string public", "set deviceconfig system snmp-setting access-setting version v2c snmp-community-string REDACTED"},
		{"the snmp-community-string is set", ""},
	}},
	{configLine{keyword: "server-key", options: encodings}, []example{
		{" client 10.1.1.1 server-key 7 0822455D0A16", " client 10.1.1.1 server-key 7 REDACTED"},
		{"the server-key is set", ""},
	}},
	{configLine{keyword: "authentication-key", options: digests, number: true}, []example{
		{" ip ospf authentication-key 0 cisco", " ip ospf authentication-key 0 REDACTED"},
		{"ntp authentication-key 12 md5 cisco 7", "ntp authentication-key 12 md5 REDACTED 7"},
		{"the authentication-key is set", ""},
	}},
	{configLine{keyword: "message-digest-key", options: digests, number: true}, []example{
		{"ip ospf message-digest-key 3 md5 7 02050D4808", "ip ospf message-digest-key 3 md5 7 REDACTED"},
		{"the message-digest-key 1 is set", ""},
	}},
	{configLine{keyword: "set-key", options: encodings}, []example{
		{" security wpa psk set-key ascii 0 cisco123", " security wpa psk set-key ascii 0 REDACTED"},
		{"the set-key is used", ""},
	}},
	{configLine{keyword: "wpa-psk", options: encodings, typed: true}, []example{
		{"wpa-psk ascii 7 06140A2F", "wpa-psk ascii 7 REDACTED"},
		{"the wpa-psk mode", ""},
	}},
	{configLine{keyword: "psk", options: encodings, typed: true}, []example{
		{" wpa psk ascii cisco123", " wpa psk ascii REDACTED"},
		{"wpa psk mode", ""},
	}},
	{configLine{keyword: "key-hash", options: digests}, []example{
		{" key-hash sha256 aabbcc", " key-hash sha256 REDACTED"},
		{"the key-hash is shown", ""},
	}},
	{configLine{keyword: "authentication", options: text.Words("text simple plain"), typed: true}, []example{
		{"  authentication text cisco", "  authentication text REDACTED"},
		{"standby 2 authentication text cisco", "standby 2 authentication text REDACTED"},
		{"authentication by text message", ""},
	}},
	{configLine{keyword: "authentication", first: text.Words("standby vrrp glbp"), without: "md5"}, []example{
		{" standby 1 authentication cisco", " standby 1 authentication REDACTED"},
		{" standby 1 authentication md5 key-chain HSRP", ""},
	}},
	{configLine{keyword: "authentication", first: text.Words("ip ipv6"), within: "nhrp"}, []example{
		{" ip nhrp authentication cisco", " ip nhrp authentication REDACTED"},
		{" ip rip authentication key-chain cisco", ""},
	}},
	{configLine{keyword: "key-octet-string", options: encodings}, []example{
		{" key-octet-string 7 0822455D0A16 cryptographic-algorithm AES_256_CMAC", " key-octet-string 7 REDACTED cryptographic-algorithm AES_256_CMAC"},
		{"the key-octet-string is set", ""},
	}},
	{configLine{keyword: "private-key", first: text.Words("set"), within: "wireguard"}, []example{
		{"set interfaces wireguard wg0 private-key 'Zx81Qm0aVb72Lc93NdKe64PfRg0='", "set interfaces wireguard wg0 private-key 'REDACTED'"},
		{"set service https private-key tls", ""},
	}},
	{configLine{keyword: "authentication-mode", options: digests, number: true, typed: true}, []example{
		{"ospf authentication-mode md5 1 cipher abc", "ospf authentication-mode md5 1 cipher REDACTED"},
		{"authentication-mode aaa", ""},
	}},
	{configLine{keyword: "privacy-mode", options: privacies, typed: true}, []example{
		{"snmp-agent usm-user v3 u privacy-mode aes128 0822455D0A16", "snmp-agent usm-user v3 u privacy-mode aes128 REDACTED"},
		{"the privacy-mode is on", ""},
	}},
	{configLine{keyword: "auth", first: text.Words("snmp-server snmp-agent snmp set"), within: "user", options: digests}, []example{
		{"snmp-server user a g v3 auth sha one priv aes 128 two", "snmp-server user a g v3 auth sha REDACTED priv aes 128 REDACTED"},
		{"snmp-server group g v3 auth read all", ""},
	}},
	{configLine{keyword: "priv", first: text.Words("snmp-server snmp-agent snmp set"), within: "user", options: privacies}, []example{
		{"snmp-server user a g v3 priv aes 128 two", "snmp-server user a g v3 priv aes 128 REDACTED"},
		{"snmp-server group g v3 priv read all", ""},
	}},
	{configLine{keyword: "community-map", first: text.Words("snmp-server")}, []example{
		{"snmp-server mib community-map abc:100 context x", "snmp-server mib community-map REDACTED:100 context x"},
		{"the community-map of towns", ""},
	}},
	{configLine{keyword: "trap-group", first: text.Words("set"), within: "snmp"}, []example{
		{"set snmp trap-group abc categories link", "set snmp trap-group REDACTED categories link"},
		{"set trap-group abc", ""},
	}},
	{configLine{keyword: "securityname", first: text.Words("snmp-agent")}, []example{
		{"snmp-agent target-host trap address udp-domain 10.1.1.1 params securityname abc", "snmp-agent target-host trap address udp-domain 10.1.1.1 params securityname REDACTED"},
		{"the securityname is bob", ""},
	}},
	{configLine{keyword: "hostname", first: text.Words("ppp"), within: "chap"}, []example{
		{"ppp chap hostname abc", "ppp chap hostname REDACTED"},
		{"hostname abc", ""},
	}},
	{configLine{keyword: "session-key", first: text.Words("set"), options: text.Words("inbound outbound ah esp cipher authenticator"), number: true, typed: true}, []example{
		{"set session-key inbound ah 256 1234abcdef", "set session-key inbound ah 256 REDACTED"},
		{"set session-key outbound esp 256 cipher 12ab authenticator 34cd", "set session-key outbound esp 256 cipher REDACTED authenticator REDACTED"},
		{"set session-key inbound", ""},
	}},
	{configLine{keyword: "authenticator", first: text.Words("set"), within: "session-key"}, []example{
		{"set session-key outbound esp 256 authenticator 34cd", "set session-key outbound esp 256 authenticator REDACTED"},
		{"set authenticator 34cd", ""},
	}},
	{configLine{keyword: "cipher", first: text.Words("local-user super snmp-agent radius-server hwtacacs-server set user-interface ftp peer")}, []example{
		{"snmp-agent usm-user v3 u authentication-mode sha cipher %^%#ab%^%#", "snmp-agent usm-user v3 u authentication-mode sha cipher REDACTED"},
		{"set cipher suites", ""},
	}},
	{configLine{keyword: "ENC", first: text.Words("set")}, []example{
		{"set psksecret ENC abcdef==", "set psksecret ENC REDACTED"},
		{"set auth-pwd ENC abcdef==", "set auth-pwd ENC REDACTED"},
		{"the ENC folder", ""},
	}},
	{configLine{keyword: "host", first: text.Words("snmp-server")}, []example{
		{"snmp-server host 10.1.1.1 traps version 2c abc bgp", "snmp-server host 10.1.1.1 traps version 2c REDACTED bgp"},
		{"snmp-server host 10.1.1.1 vrf mgmt informs abc", "snmp-server host 10.1.1.1 vrf mgmt informs REDACTED"},
		{"snmp-server host inside 10.1.1.1 community abc", "snmp-server host inside 10.1.1.1 community REDACTED"},
		{"the snmp-server host is down", ""},
	}},
	{configLine{keyword: "address", first: text.Words("syscon")}, []example{
		{"syscon address 10.1.1.1 abc", "syscon address 10.1.1.1 REDACTED"},
		{"ip address 10.1.1.1 abc", ""},
	}},
}

// configRules makes the rules of the keywords.
func configRules() (all []rule) {
	for _, l := range configLines {
		all = append(all, rule{
			name:  "config_" + l.keyword,
			marks: []string{l.keyword + "[ \t]"},
			exact: l.keyword == "ENC", begins: l.begins, head: l.head, examples: l.examples,
		})
	}
	return all
}

// begins reports whether the line up to the keyword is one of a configuration.
func (l configLine) begins(before []byte) bool {
	line := bytes.TrimRight(lastLine(before), " \t")
	line = line[:max(0, len(line)-len(l.keyword))]
	if i := bytes.LastIndexAny(line, "#>"); i >= 0 {
		line = line[i+1:] // what comes before is a prompt
	}
	if n := len(line); n > 0 && !is(line[n-1], blank) && (line[n-1] != '-' || l.keyword != "authentication-key") {
		return false
	}
	first := words.FirstField(line)
	if len(first) == 0 {
		first = []byte(l.keyword)
	}
	if l.first != nil && !l.first.HasFold(first) || l.alone && (len(line) == 0 || len(bytes.TrimLeft(line, " \t")) > 0) {
		return false
	}
	if l.indexed {
		if n := words.LastField(line); len(n) == 0 || !is(n[0], digit) {
			return false
		}
	}
	for found := l.within == ""; ; {
		field := words.FirstField(line)
		if len(field) == 0 || found {
			return found
		}
		found = len(field) == len(l.within) && text.HasPrefixFold(field, l.within)
		line = bytes.TrimLeft(line, " \t\r")[len(field):]
	}
}

// head reads the options and finds the secret.
func (l configLine) head(c *cursor, before []byte) value {
	c.skip(blank)
	switch l.keyword {
	case "host", "address":
		if !c.target() {
			return value{}
		}
	}
	known := l.first != nil || l.within != ""
	options := 0
	for range 10 {
		c.safe = c.i
		if is(c.peek(), quoting) {
			break
		}
		t := c.token()
		if c.short || len(t.raw) == 0 {
			return value{}
		}
		c.i -= len(t.raw)
		option := l.options.Has(t.text()) && t.whole() || l.number && t.number()
		if l.keyword == "host" {
			option = notification.Has(t.text())
		}
		if !option {
			break
		}
		argument := l.keyword == "host" && takesName.Has(t.text())
		if !c.another(t) {
			return value{}
		}
		if options++; argument {
			t := c.token()
			if c.i -= len(t.raw); c.short || !c.another(t) {
				return value{}
			}
		}
	}
	if l.typed && options == 0 || c.short {
		return value{}
	}
	t := c.token()
	c.i -= len(t.raw)
	if c.short || !t.configured(known && options+len(l.within) > 0) || l.without != "" && string(t.text()) == l.without {
		return value{}
	}
	if l.alone && (!t.mixed() || is(c.at(len(t.raw)), blank)) {
		return value{}
	}
	v := c.secret(binding{command: true})
	if l.keyword == "community-map" && v.end != nil {
		v.quote = ':'
	}
	return v
}

// takesName are options of snmp-server host that a name or number follows.
var takesName = text.Words("vrf use-vrf udp-port version")

// target moves over the host that a line is about, with the interface before it.
func (c *cursor) target() bool {
	for range 2 {
		t := c.token()
		c.i -= len(t.raw)
		// A host is no secret: where a part of it was one, this is no host.
		if c.short || len(t.raw) == 0 || words.Functions.Has(t.text()) || bytes.Contains(t.raw, []byte(Mark)) || !c.another(t) {
			return false
		}
		if bytes.IndexAny(t.raw, ".:") > 0 {
			return true
		}
		if b := c.peek(); !is(b, digit) {
			return false
		}
	}
	return false
}

// configured reports whether the token can be a secret in a line of a configuration. Where the
// line may still be prose it must not be a word that follows the keyword there.
func (t *token) configured(sure bool) bool {
	text := t.text()
	switch {
	case len(t.core) == 0 && !is(t.raw[0], quoting), t.raw[0] == '<' || t.raw[0] == '-' || t.raw[0] == '[' || t.raw[0] == '(':
		return false
	case grammar.Has(text):
		return false
	case sure:
		return true
	}
	return !words.Functions.Has(text) && !words.Nouns.Has(text)
}

// grammar are words of configurations that follow a keyword and are no secrets.
var grammar = text.Words(`key-chain keychain chain key-string community timeout mode hmac read write notify context access generate
	zeroize import export poll trap traps suite suites config-key rsa ec dsa label pubkey-chain mypubkey null aaa password none`)
