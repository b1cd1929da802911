package usage

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// checkDate refuses an operand that sets the clock: only +FORMAT shows it.
func checkDate(p *parsed) string {
	for i, at := range p.operands {
		if w := p.words[at]; i > 0 || !strings.HasPrefix(w.Text, "+") || !w.Fixed && !strings.HasPrefix(w.Head, "+") || w.Split {
			p.word = at
			return "date with this operand sets the clock"
		}
	}
	if v, ok := p.value("-f", "--file"); ok && v.Text == "-" {
		return ""
	}
	return ""
}

var longSleep = regexp.MustCompile(`^(?:inf|infinity|[0-9.]*[hd]|[0-9]{4,})`)

func checkSleep(p *parsed) string {
	for i := range p.operands {
		if longSleep.MatchString(strings.ToLower(p.operand(i))) {
			p.traits |= Endless
		}
	}
	return ""
}

// maxSeq is the largest number of seq that is a list and not a flood.
const maxSeq = 1e7

func checkSeq(p *parsed) string {
	for i := range p.operands {
		if n, err := strconv.ParseFloat(p.operand(i), 64); err != nil || n > maxSeq {
			p.traits |= Endless
		}
	}
	return ""
}

// checkInterval notes that a program repeats what it shows: with an interval and without a number of times.
func checkInterval(p *parsed) string {
	numbers := 0
	for i := range p.operands {
		if _, err := strconv.ParseFloat(p.operand(i), 64); err == nil {
			numbers++
		}
	}
	if numbers == 1 || p.has("-l", "--loop") && p.name == "nvidia-smi" {
		p.traits |= Endless
	}
	return ""
}

// psColumns is a word of flags of ps whose last one is followed by a list: of columns, of keys to sort
// by, of processes.
var psColumns = regexp.MustCompile(`^(?:-[AacdefFHjlLmPTVwyZ]*[oOCGgpqstuU]|--(?:format|sort|pid|ppid|user|User|group|Group|tty|sid|quick-pid|cols|columns|rows|lines|width|headers))$`)

// psFlags are the flags of ps that only choose and format.
var psFlags = regexp.MustCompile(`^(?:-[AacdefFHjlLmMPTVwyZNhn]*(?:[oOCGgpqstuU].*)?|--(?:format|sort|pid|ppid|user|User|group|Group|tty|sid|quick-pid|cols|columns|rows|lines|width)=.*|--(?:forest|no-headers?|no-heading|headers|deselect|info|context|cumulative|version|help|help \w+)|[aAcfghHjlLmnNrsStTuvwxXVZU]+(?:[okOpqtU][\w,:=%+.-]*)?|[0-9,]+)$`)

// checkPs tells when ps shows environments: the e of its BSD syntax, and a column.
func checkPs(p *parsed) string {
	list := false
	for i, w := range p.words {
		flag := strings.HasPrefix(w.Text, "-")
		switch {
		case !w.Fixed && (!list || w.Split):
			p.word = i
			return "ps may show environments"
		case text.ContainsFold(w.Text, "environ"), !flag && !list && strings.Contains(w.Text, "e"):
			p.traits |= Secret
			p.word = i
			return "ps shows environments"
		case !list && w.Fixed && !psFlags.MatchString(w.Text) && !psColumns.MatchString(w.Text):
			p.word = i
			return "ps has no option " + w.Text + " that is known to only read"
		}
		if p.roles[i] = Option; list {
			p.roles[i] = Value
		}
		list = !list && flag && psColumns.MatchString(w.Text)
	}
	return ""
}

func checkTop(p *parsed) string {
	if p.has("-n") {
		p.traits &^= Endless
	}
	return ""
}

func checkKill(p *parsed) string {
	if len(p.words) > 0 && p.words[0].Fixed {
		switch p.words[0].Text {
		case "-l", "-L", "--list", "--table":
			return ""
		case "-0":
			for i, w := range p.words[1:] {
				if !w.Fixed || strings.Trim(w.Text, "0123456789") != "" {
					p.word = i + 1
					return "kill may end processes"
				}
			}
			return ""
		}
	}
	return "kill ends processes"
}

func checkLsof(p *parsed) string {
	if v, ok := p.value("-D"); ok && v.Text != "?" && v.Text != "i" {
		return "lsof -D may write its cache"
	}
	if p.has("-r") {
		p.traits |= Endless
	}
	return ""
}

func checkGetent(p *parsed) string {
	switch p.operand(0) {
	case "hosts", "ahosts", "ahostsv4", "ahostsv6", "":
		p.traits |= Network
	case "shadow", "gshadow":
		p.traits |= Secret
	}
	for _, i := range p.operands {
		if !p.words[i].Fixed {
			p.traits |= Network
		}
	}
	return ""
}

func checkSysctl(p *parsed) string {
	for _, i := range p.operands {
		if w := p.words[i]; !w.Fixed || strings.Contains(w.Text, "=") {
			p.word = i
			return "sysctl changes the kernel"
		}
	}
	return ""
}

func checkStatus(p *parsed) string {
	if p.has("-l", "--list") && len(p.operands) == 0 || p.operand(1) == "status" && len(p.operands) == 2 {
		return ""
	}
	return p.name + " only looks with status"
}

func checkService(p *parsed) string {
	if p.has("--status-all") && len(p.operands) == 0 || len(p.operands) == 2 && p.operand(1) == "status" && !strings.Contains(p.operand(0), "/") && p.operand(0) != "" {
		return ""
	}
	return "service only looks with status"
}

func checkParted(p *parsed) string {
	if p.has("-l", "--list") && len(p.operands) == 0 {
		return ""
	}
	if p.has("-l", "--list") || len(p.operands) == 0 {
		return "parted only looks with -l or print"
	}
	for i := range p.operands[1:] {
		if word := p.operand(i + 1); !text.Lists("print free all devices unit s b kib mib gib tib kb mb gb tb % cyl chs compact list", strings.ToLower(word)) {
			p.word = p.operands[i+1]
			return "parted only looks with -l or print"
		}
	}
	if len(p.operands) < 2 {
		return "parted without a command is interactive"
	}
	return ""
}

func checkMdadm(p *parsed) string {
	if !p.has("-D", "-E", "-Q", "--detail", "--examine", "--query") {
		return "mdadm only looks with --detail, --examine or --query"
	}
	return ""
}

func checkLosetup(p *parsed) string {
	if len(p.operands) == 0 || p.has("-l", "--list", "-a", "--all", "-j", "--associated") {
		return ""
	}
	return "losetup with a device may change it"
}

func checkNeedrestart(p *parsed) string {
	if v, ok := p.value("-r"); p.has("-b") && (!ok || v.Text == "l") || ok && v.Text == "l" {
		return ""
	}
	return "needrestart may restart services"
}

// checkPrintf refuses a variable to set, and notes a width that is a flood.
func checkPrintf(p *parsed) string {
	if len(p.words) == 0 {
		return ""
	}
	if w := p.words[0]; strings.HasPrefix(w.Text, "-v") || !w.Fixed && (w.Head == "" || w.Head[0] == '-') {
		p.word = 0
		return "printf may set a variable"
	}
	if floodWidth.MatchString(p.words[0].Text) {
		p.traits |= Endless
	}
	return ""
}

var floodWidth = regexp.MustCompile(`%[-+ #0']*[0-9.]{6}`)
