package command

import (
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/scanner/command/form"
	"github.com/svc-gateway/svc/scanner/command/hostfile"
	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// What traits are told by words alone: they hold for a command whatever its class is.

var (
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

// lookAt notes the traits that the words of a command tell.
func (w *shell) lookAt(name string, args call) {
	w.trait(wordTraits(name, args))
	if w.all && !hostfile.Public(name, usageWords(args)) {
		w.trait(usage.Secret)
	}
}

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
		if form.Secret(word) && !form.Public(word) || contents.HasString(name) && rawDisk.MatchString(word) ||
			recursive && strings.HasSuffix(name, "rep") && secretWord.MatchString(word) {
			t |= usage.Secret
		}
		if strings.EqualFold(word, "monitor") && text.Lists("redis-cli valkey-cli keydb-cli", name) {
			t |= usage.Endless
		}
		if strings.HasPrefix(word, "/dev/") && noEnd.MatchString(word) && name != "head" && name != "dd" && name != "ls" && name != "stat" || recursive && word == "/" && (name == "ls" || strings.HasSuffix(name, "rep") || name == "rg") {
			t |= usage.Endless
		}
		if strings.Contains(word, "://") && name != "git" || strings.HasPrefix(word, "/dev/tcp/") || strings.HasPrefix(word, "/dev/udp/") || name == "lsof" && strings.HasPrefix(word, "@") {
			t |= usage.Network
		}
	}
	return t
}
