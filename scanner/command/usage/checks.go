package usage

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// checks look at the words of a command together, once each has its role. They return why the command
// is not said to read, or "". The tables name them. (A variable that is set in init, since the
// tables are read with it.)
var checks map[string]func(*parsed) string

func init() {
	checks = map[string]func(*parsed) string{
		// Text, files and languages of their own.
		"sed": checkSed, "awk": checkAwk, "jq": checkJQ, "yq": checkYQ, "find": checkFind, "tar": checkTar, "zip": checkZip, "unzip": checkUnzip,
		"dd": checkDd, "responses": checkResponses, "printf": checkPrintf, "tree": checkNone, "bat": needsNo("cache"), "pager": checkPager,
		"plainfiles": checkPlain, "decompress": checkDecompress, "media": checkMedia, "stdoutlast": checkStdoutLast,
		"infoonly": needs("-i"), "cpio": checkCpio, "keygen": needs("-l", "-F"), "gpg": checkGPG, "bc": checkNone,

		// The host.
		"date": checkDate, "sleep": checkSleep, "seq": checkSeq, "interval": checkInterval, "ps": checkPs, "top": checkTop, "kill": checkKill, "lsof": checkLsof,
		"getent": checkGetent, "sysctl": checkSysctl, "lspci": checkNone, "modinfo": checkNone, "statusverb": checkStatus, "service": checkService,
		"sudolist": needs("-l", "--list"), "visudo": needs("-c", "--check"), "lists": needs("-l", "--list"), "status": needs("-S", "--status"), "fdisk": needs("-l", "--list", "-x"), "sfdisk": needs("-l", "-d", "-J", "-V", "-F", "-s", "-T", "--list", "--dump", "--json", "--verify", "--list-free", "--show-size", "--show-types"),
		"sgdisk": needs("-p", "-i", "-v", "-O", "-E", "-D", "-F", "-L", "--print", "--info", "--verify", "--list-types"), "hdparm": checkNone, "parted": checkParted,
		"mdadm": checkMdadm, "fsckdry": needs("-N"), "losetup": checkLosetup, "swapon": needs("-s", "--summary", "--show"),
		"needrestart": checkNeedrestart, "names": checkNames, "identifiers": checkIdentifiers, "number": checkNumber,

		// git.
		"branch": checkBranch, "tag": checkTag, "gitconfig": checkGitConfig, "dryclean": needs("-n", "--dry-run"), "dryrun": needs("-n", "--dry-run"),
		"remote": checkRemote, "gitapply": needs("--stat", "--numstat", "--summary", "--check"),

		// The network.
		"ip": checkIP, "iw": checkIw, "ping": checkPing, "dig": checkDig, "nslookup": checkNslookup, "drill": checkNone, "netcat": checkNetcat, "tcpdump": checkTcpdump,
		"tshark": needs("-r", "-D"), "conntrack": checkConntrack, "iptables": checkIptables, "nft": checkNft, "words": checkWords, "wgshow": checkWgShow,
		"ntpq": needs("-p", "-n", "--peers"), "vtysh": checkVtysh, "ldap": checkNone, "noassign": checkNoAssign,
		"asked": needs("-v", "-V"), "sshdtest": needs("-t", "-T"), "curl": checkCurl, "rsync": checkRsync,

		// Containers, packages and clouds.
		"stats": checkStats, "until": checkUntil, "kubeget": checkKubeGet, "kubedry": checkKubeDry, "kafka": needs("--list", "--describe"), "kcat": needs("-L"),
		"aptsim": checkAptSim, "dpkg": checkDpkg, "rpm": needs("-q", "--query", "-V", "--verify", "-K", "--checksig", "--querytags"), "pacman": checkPacman,
		"nixq": needs("-q", "--query"), "versionof": checkVersion, "rustfmt": needs("--check"), "checkonly": needs("--check", "--check-only", "--diff"), "dpkgdeb": needs("-c", "-I", "-f", "-W", "--contents", "--info", "--field", "--show"), "cargolist": needs("--list"), "fmtcheck": needs("--check", "--check-only", "--diff", "-d", "-l", "-c", "--list-different"),
		"golist": checkNone, "gofmt": checkNone, "mvnversion": needs("-v", "--version"), "rufffix": checkNone, "ansible": checkVersion,
		"tffmt": checkTerraformFmt, "screenls": checkScreen, "awskey": checkAWSKey, "groups": checkGroups, "ghapi": checkGitHub, "flywords": checkFly,
		"psqlset": checkNone,
	}
}

// checkNone is that of programs whose options say all.
func checkNone(*parsed) string { return "" }

// needs is a check that one of the options is there with which a program only looks.
func needs(options ...string) func(*parsed) string {
	return func(p *parsed) string {
		if p.has(options...) {
			return ""
		}
		return p.name + " only looks with " + strings.Join(options, " or ")
	}
}

// needsNo is a check that the first operand is none of the words.
func needsNo(words string) func(*parsed) string {
	return func(p *parsed) string {
		if text.Lists(words, p.operand(0)) {
			return p.name + " " + p.operand(0) + " does more than read"
		}
		return ""
	}
}

// checkWords is that of programs that show what their words say, whatever they say.
func checkWords(p *parsed) string {
	for i, w := range p.words {
		if !w.Fixed {
			p.word = i
			return "a word of " + p.name + " is only known at run time"
		}
		if strings.ContainsAny(w.Text, "\n;|>") {
			p.word = i
			return "a word of " + p.name + " may be more than one command"
		}
	}
	return ""
}

// checkVersion is that of programs of which only the version and the help are known to read.
func checkVersion(p *parsed) string {
	if len(p.words) == 1 && p.words[0].Fixed && text.Lists("--version -version -V -v version --help -h help", p.words[0].Text) && (p.words[0].Text != "-h" || p.name != "php") {
		if p.words[0].Text == "-v" && !text.Lists("node nodejs ruby perl php lua gcc g++ clang", p.name) || p.words[0].Text == "version" && p.name == "lua" {
			return p.name + " may run a program"
		}
		return ""
	}
	return p.name + " runs a program"
}

// checkNumber is that of programs whose operands are numbers.
func checkNumber(p *parsed) string {
	for i := range p.operands {
		if _, err := strconv.Atoi(p.operand(i)); err != nil {
			return p.name + " does more than read with " + p.operand(i)
		}
	}
	return ""
}

// checkResponses is that of programs that read options from a file @name.
func checkResponses(p *parsed) string {
	for i, w := range p.words {
		if strings.HasPrefix(w.Text, "@") || !w.Fixed && (w.Head == "" || w.Head[0] == '@') {
			p.word = i
			return p.name + " reads options from a file"
		}
	}
	return ""
}

// variableName is a name that a shell's variable may have without anything depending on it.
var variableName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Harmless reports whether nothing that runs later depends on a variable of this name, but how
// output looks.
func Harmless(name string) bool {
	return strings.HasPrefix(name, "LC_") || harmlessNames.HasFoldString(name)
}

var harmlessNames = text.Words("lang language tz columns lines term no_color")

// specialNames are variables of shells in small letters on which something depends.
var specialNames = text.Words("path fpath cdpath ifs manpath module_path")

// Local reports whether a variable of this name is one of the line alone: no program and no part of the
// shell looks at it.
func Local(name string) bool {
	return variableName.MatchString(name) && !strings.HasSuffix(name, "_proxy") && !specialNames.HasString(name)
}

// checkNames is that of read and unset, whose operands are names of variables.
func checkNames(p *parsed) string {
	for i := range p.operands {
		if name := p.operand(i); !Local(name) && name != "REPLY" {
			p.word = p.operands[i]
			return p.name + " may change a variable on which something depends"
		}
	}
	return ""
}

// checkIdentifiers is that of wait, jobs and their kind, whose operands are numbers and jobs.
func checkIdentifiers(p *parsed) string {
	for i := range p.operands {
		if name := p.operand(i); strings.Trim(name, "%+-0123456789") != "" && name != "unlimited" && !variableName.MatchString(strings.TrimPrefix(name, "%")) {
			p.word = p.operands[i]
			return p.name + " with this operand is not known to only read"
		}
	}
	return ""
}
