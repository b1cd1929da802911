package command

import (
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// What traits are told by words alone: they hold for a command whatever its class is.

var (
	// secretPaths are files that hold keys, passwords and tokens.
	secretPaths = regexp.MustCompile(`(?i)(?:^|[/~=:])(?:etc/g?shadow-?|etc/sudoers(?:\.d/.*)?|etc/ssl/private|etc/krb5\.keytab|etc/wireguard/|proc/[^/]+/(?:environ|mem|maps)|proc/kcore|dev/k?mem|dev/port|run/secrets)` +
		`|(?:^|/)(?:\.ssh/(?:[^/]*_)?(?:id_|identity|rsa|.*key)[^/]*|id_(?:rsa|dsa|ecdsa|ed25519)|\.aws/credentials|\.kube/config|\.docker/config\.json|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.gnupg|\.npmrc|\.pypirc|\.vault-token|\.env(?:\.\w+)?|\.htpasswd|` +
		`terraform\.tfstate|[^/]+\.(?:pem|key|p12|pfx|jks|kdbx|keytab))$|/(?:credentials|secrets?|token)(?:\.\w+)?$|169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200`)
	publicKey  = regexp.MustCompile(`\.pub$|/(?:ca|cert|chain|fullchain|ca-certificates|cacert|server|client|tls)[\w.-]*\.pem$|(?:^|/)(?:cert|chain|fullchain|ca|cacert)\.pem$`)
	rawDisk    = regexp.MustCompile(`^(?:if=)?/dev/(?:sd[a-z]|nvme\d|vd[a-z]|xvd[a-z]|hd[a-z]|mmcblk\d|dm-\d|mapper/|disk/|md\d)`)
	noEnd      = regexp.MustCompile(`^/dev/(?:zero|random|urandom|full|tty\w+|input/\w+)$`)
	secretWord = regexp.MustCompile(`(?i)passw|secret|token|api.?key|private.?key|credential`)

	// contents show what a file holds.
	contents = text.Words("cat tac head tail strings dd xxd od hexdump grep egrep fgrep rg base64 base32 cmp diff less more sort cut awk sed tr nl fold wc md5sum sha256sum hexyl bat rev")
	// talkers reach out to other hosts.
	talkers = text.Words(`curl wget ssh scp sftp ftp lftp tftp telnet nc ncat netcat socat nmap http https xh httpie aria2c fetch lynx w3m links elinks rsh rlogin mosh rclone gsutil aws az gcloud gh glab
		whois ping ping6 dig host nslookup drill traceroute tracepath mtr fping arping snmpwalk snmpget ldapsearch smbclient rsync iperf3 speedtest irm iwr`)
	// silent print their words, and look at nothing that these name.
	silent = text.Words("echo printf true false : expr basename dirname seq test [")
	rights = text.Words("sudo doas su pkexec runuser gosu su-exec setpriv systemd-run")
)

// wordTraits returns the traits of a simple command that its name and words tell.
func wordTraits(name string, args call) (t usage.Trait) {
	if talkers.HasString(name) {
		t |= usage.Network
	}
	if rights.HasString(name) {
		t |= usage.Privileged
	}
	if silent.HasString(name) {
		return t
	}
	recursive := args.has("r", "R", "--recursive") || name == "rg"
	for _, a := range args {
		word := a.text
		if secretPaths.MatchString(word) && !publicKey.MatchString(word) || rawDisk.MatchString(word) && contents.HasString(name) ||
			recursive && strings.HasSuffix(name, "rep") && secretWord.MatchString(word) {
			t |= usage.Secret
		}
		if noEnd.MatchString(word) && name != "head" && name != "dd" && name != "ls" && name != "stat" || recursive && word == "/" && (name == "ls" || strings.HasSuffix(name, "rep") || name == "rg") {
			t |= usage.Endless
		}
		if strings.Contains(word, "://") && name != "git" || strings.HasPrefix(word, "/dev/tcp/") || strings.HasPrefix(word, "/dev/udp/") || name == "lsof" && strings.HasPrefix(word, "@") {
			t |= usage.Network
		}
	}
	return t
}
