// Package hostfile says which commands read nothing on a host but what everybody may know.
//
//	if !hostfile.Public("head", words) { … } // somebody is asked
//
// # How
//
// A command on a host can read whatever its user can, who may be root. So it is not looked for the names of
// secrets: a pattern, a variable or a new place would get past that. Each word of a command must be one of
// which it is certain that it names no file, or one in a place that everybody may read.
//
// # Guarantees
//
// A word that is only known at run time, that may become several, that leads out of a place or is relative to
// a folder is in no public place. The functions look at their arguments only.
//
// # Concurrency
//
// They are safe for concurrent use.
package hostfile

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

var (
	// silent print their words, or compare them.
	silent = text.Words("echo printf true false : expr basename dirname seq test [ sleep")

	// namers tell of files what their names, sizes and rights are, whatever files these are.
	namers = text.Words("ls dir vdir stat df du find readlink realpath mountpoint lsblk namei pwd which type whereis")

	// readers show what is in the files that they are given, be it by a name in the folder where they are.
	readers = text.Words(`cat tac head tail strings dd xxd od hexdump grep egrep fgrep rg zgrep base64 base32 cmp diff less more sort cut awk gawk mawk nawk
		sed nl fold wc bat rev jq yq git sqlite3 zcat zless column paste join comm uniq pr file tar unzip zipinfo look split csplit expand
		unexpand fmt ptx shuf tsort sum cksum md5sum sha1sum sha256sum sha512sum b2sum`)
	// tellers show settings and data in which there may be secrets, unless their first operand is one of states.
	tellers = text.Words("redis-cli valkey-cli keydb-cli psql mysql mariadb mongosh crontab systemctl docker podman kubectl history")
	states  = text.Words("status list-units list-timers list-sockets list-unit-files is-active is-enabled is-failed ps images version info top")

	// noFile is what is a value of a reader's option, or a script of sed, and no name.
	noFile = regexp.MustCompile(`^(?:-.*|[^A-Za-z.~@]*|[\d,$]+[pd])$`)

	// scripted have a script or a pattern as their first operand, unless an option gives it.
	scripted = text.Words("grep egrep fgrep rg zgrep awk gawk mawk nawk")
	awkNames = regexp.MustCompile(`ARGV|ARGC|ENVIRON|PROCINFO`) // with which a script opens files by itself

	// listed read the names of files from a file, or from what comes through a pipe.
	listed = text.Words("xargs parallel")

	// publicFolders are those of which everything below is public, publicFiles the files.
	publicFolders = []string{
		"/var/log", "/usr/share", "/usr/include", "/proc/sys", "/proc/net", "/sys/class", "/sys/block", "/sys/bus",
		"/sys/devices", "/sys/fs/cgroup", "/sys/module", "/etc/sysctl.d", "/etc/modules-load.d", "/etc/ld.so.conf.d",
	}
	publicFiles = text.Words(`/dev/null /dev/stdin /etc/os-release /etc/debian_version /etc/redhat-release /etc/lsb-release /etc/issue /etc/issue.net /etc/motd
		/etc/hostname /etc/hosts /etc/resolv.conf /etc/nsswitch.conf /etc/host.conf /etc/timezone /etc/adjtime /etc/fstab /etc/mtab /etc/passwd /etc/group
		/etc/services /etc/protocols /etc/networks /etc/shells /etc/login.defs /etc/crontab /etc/sysctl.conf /etc/modules /etc/ld.so.conf /etc/ntp.conf
		/etc/chrony/chrony.conf /etc/systemd/timesyncd.conf /etc/systemd/journald.conf /etc/systemd/logind.conf /etc/systemd/resolved.conf
		/etc/ssh/sshd_config /etc/selinux/config /etc/default/locale /etc/locale.conf`)

	// plainOption are options of grep that take no other word as their value and have it follow no links.
	plainOption = regexp.MustCompile(`^-(?:[acEFGhHiIlLnoPqrsTvwxzZ]+(?:[ABCm]?\d+)?|[ABCm]?\d+|-(?:recursive|line-number|ignore-case|with-filename|count|colou?r|(?:include|exclude|exclude-dir|colou?r)=.*))$`)
	// deep are folders of which no file is closed. What an installer leaves is in a folder of its own.
	deep = regexp.MustCompile(`^(?:/usr/share|/usr/include|/etc/(?:sysctl|modules-load|ld\.so\.conf)\.d|/var/log/[A-Za-z0-9][\w.-]*)(?:/|$)`)

	// closed are words in the paths of what is not public in a public place: keys of iSCSI, of TCP, an installer's answers.
	closed = regexp.MustCompile(`(?i)secret|key|passw|credential|token|/ssl/|/ssh|iscsi|installer|cloud-init|/private`)

	// publicOfKernel are what the kernel tells everybody of itself and of a process.
	publicOfKernel = regexp.MustCompile(`^/proc/(?:cpuinfo|meminfo|loadavg|uptime|version|mounts|stat|vmstat|swaps|partitions|diskstats|interrupts|filesystems|modules|mdstat|cmdline|buddyinfo|softirqs|zoneinfo|devices|locks|` +
		`(?:\d+|self)/(?:status|stat|statm|limits|cgroup|io|comm|cmdline|mountinfo|mounts|sched|oom_score))$`)
)

// Public reports whether a command, as the program name and the words after it, reads nothing on a host that
// not everybody may know.
func Public(name string, words []usage.Word) bool {
	switch {
	case silent.HasString(name):
		return true
	case listed.HasString(name), tellers.HasString(name) && !slices.ContainsFunc(words[:min(1, len(words))], tellsState), name == "rg":
		return false
	}
	reads, names := readers.HasString(name), namers.HasString(name)
	script := scripted.HasString(name) && !slices.ContainsFunc(words, givesScript)
	if strings.HasSuffix(name, "rep") && slices.ContainsFunc(words, recursive) && !inDepth(words) {
		return false
	}
	for _, w := range words {
		switch {
		case script && w.Fixed && (w.Text == "-" || !strings.HasPrefix(w.Text, "-")) && !awkNames.MatchString(w.Text):
			script = false
		case !names && !public(w), reads && !strings.Contains(w.Text, "/") && !noFile.MatchString(w.Text), givesFiles(w.Text):
			return false
		}
	}
	return true
}

// givesScript reports whether an option may give the script: -e, -f, among other letters too, --regexp and
// --file, shortened too, and --, behind which the script may look like an option.
func givesScript(w usage.Word) bool {
	long, _, _ := strings.Cut(w.Text, "=")
	if strings.HasPrefix(long, "--") {
		return strings.HasPrefix("--regexp", long) || strings.HasPrefix("--file", long)
	}
	return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "ef")
}

// givesFiles reports whether an option has a program read names from a file, or give what it finds to another.
func givesFiles(word string) bool {
	long, _, _ := strings.Cut(word, "=")
	return len(long) > 2 && strings.HasPrefix("--files0-from", long) ||
		slices.ContainsFunc([]string{"--files", "-files", "--fromfile", "-exec", "-ok"}, func(o string) bool { return strings.HasPrefix(word, o) })
}

// recursive reports whether an option has grep read all that is in a folder.
func recursive(w usage.Word) bool {
	if strings.HasPrefix(w.Text, "--") {
		return strings.HasPrefix(w.Text, "--r") && !strings.HasPrefix(w.Text, "--reg") || strings.HasPrefix(w.Text, "--de") || strings.HasPrefix(w.Text, "--di")
	}
	return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "rRd")
}

// inDepth reports whether a recursive grep searches nothing but folders below which all files are public, whatever
// their names are. There must be one, else it is the folder where it runs.
func inDepth(words []usage.Word) bool {
	operands := slices.DeleteFunc(slices.Clone(words), func(w usage.Word) bool { return w.Fixed && plainOption.MatchString(w.Text) })
	for i, w := range operands {
		if !w.Fixed || strings.HasPrefix(w.Text, "-") || i > 0 && !deep.MatchString(path.Clean(w.Text)) {
			return false
		}
	}
	return len(operands) > 1
}

func tellsState(w usage.Word) bool { return w.Fixed && states.HasString(w.Text) }

// public reports whether a word names no file, or one that everybody may read. Of one that becomes several, the
// part that is certain has to tell.
func public(w usage.Word) bool {
	word := w.Text
	if !w.Fixed {
		if word = w.Head; w.Split || !w.Many || strings.Contains(w.Text, "/.") || !strings.HasPrefix(w.Text, word) || strings.Contains(w.Text[len(word):], "/") {
			return false
		}
	}
	at := strings.IndexByte(word, '/')
	switch start, _, option := strings.Cut(word, "="); {
	case strings.Contains(word, ".."), at >= 0 && closed.MatchString(word) && !publicFiles.HasString(word):
		return false
	case at < 0:
		return w.Fixed && (word == "" || !strings.ContainsAny(word[:1], ".~@"))
	case at > 0 && (!option || len(start) != at-1) && !strings.HasPrefix(word, "-"):
		return false // relative to a folder
	}
	file := word[at:]
	for _, folder := range publicFolders {
		if strings.HasPrefix(file, folder+"/") || w.Fixed && path.Clean(file) == folder {
			return true
		}
	}
	return w.Fixed && (publicFiles.HasString(file) || publicOfKernel.MatchString(file))
}
