package usage

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

func checkPing(p *parsed) string {
	if !p.has("-c", "-w") {
		p.traits |= Endless
	}
	return ""
}

func checkDig(p *parsed) string {
	if p.has("-f") {
		p.traits |= Secret
	}
	for _, i := range p.operands {
		if w := p.words[i].Text; text.ContainsFold(w, "axfr") {
			p.traits |= Network
		}
	}
	return ""
}

// checkNslookup reads its words: a name, a server, -type=….
func checkNslookup(p *parsed) string {
	for i, w := range p.words {
		p.roles[i] = Operand
		if strings.HasPrefix(w.Text, "-") && !slices.ContainsFunc([]string{"-type=", "-query=", "-q=", "-port=", "-timeout=", "-retry=", "-class=", "-debug", "-nodebug", "-norecurse", "-recurse", "-vc", "-novc", "-t="}, func(o string) bool {
			return strings.HasPrefix(w.Text, o)
		}) {
			p.word = i
			return "nslookup has no option " + w.Text + " that is known to only read"
		}
	}
	return ""
}

func checkNetcat(p *parsed) string {
	if p.has("-z") && !p.has("-l", "-k") {
		return ""
	}
	return "it talks to another host"
}

func checkTcpdump(p *parsed) string {
	if p.has("-c") && !p.has("-i") || p.has("-r", "-D", "-L", "-d", "--list-interfaces") {
		p.traits &^= Endless
		return ""
	}
	if p.has("-c") {
		p.traits &^= Endless
		return ""
	}
	p.traits |= Endless
	return ""
}

func checkConntrack(p *parsed) string {
	if p.has("-L", "-S", "-C", "-G", "--stats", "--count") && !p.has("-D", "-E") {
		return ""
	}
	return "conntrack is not known to only read"
}

func checkIptables(p *parsed) string {
	if !p.has("-L", "-S", "--list", "--list-rules") {
		return p.name + " only looks with -L or -S"
	}
	if len(p.operands) > 2 {
		return p.name + " has more words than a listing"
	}
	for _, i := range p.operands {
		if w := p.words[i]; !w.Fixed {
			p.word = i
			return "an argument of " + p.name + " is only known at run time"
		}
	}
	return ""
}

// checkNft refuses what ends a statement of nft and begins another.
func checkNft(p *parsed) string {
	for i, w := range p.words {
		if !w.Fixed || strings.ContainsAny(w.Text, ";\n{}") || text.Lists("delete add flush insert replace create destroy reset rename", strings.ToLower(w.Text)) {
			p.word = i
			return "nft is not known to only list"
		}
		p.roles[i] = Operand
	}
	return ""
}

func checkVtysh(p *parsed) string {
	n := 0
	for _, g := range p.options {
		if g.name != "-c" {
			continue
		}
		n++
		if first, rest, _ := strings.Cut(strings.TrimSpace(g.value.Text), " "); !g.value.Fixed || len(first) < 2 || !strings.HasPrefix("show", first) || strings.ContainsAny(rest, "\n;|>") {
			p.word = g.word
			return "vtysh runs a command that is not known to only show"
		}
	}
	if n == 0 {
		return "vtysh is interactive"
	}
	return ""
}

func checkNoAssign(p *parsed) string {
	for _, i := range p.operands {
		if w := p.words[i]; !w.Fixed || strings.Contains(w.Text, "=") {
			p.word = i
			return p.name + " may change a setting"
		}
	}
	return ""
}

// checkCurl: what it fetches is shown, but it reaches out, so that it is judged apart as well.
func checkCurl(p *parsed) string { return "it talks to another host" }

// checkRsync is that of a rehearsal or a listing.
func checkRsync(p *parsed) string {
	if p.has("-n", "--dry-run", "--list-only") {
		return ""
	}
	return "rsync writes files"
}

// checkRemote refuses names of repositories that run a command: ext::sh -c ….
func checkRemote(p *parsed) string {
	for _, i := range p.operands {
		if w := p.words[i]; !w.Fixed || strings.Contains(w.Text, "::") || strings.HasPrefix(w.Text, "-") {
			p.word = i
			return "git may run a command for this repository"
		}
	}
	return ""
}

func checkBranch(p *parsed) string {
	if len(p.operands) == 0 || p.has("--list", "-l", "--contains", "--no-contains", "--points-at", "--merged", "--no-merged") {
		return ""
	}
	p.word = p.operands[0]
	return "git branch with a name makes a branch"
}

func checkTag(p *parsed) string {
	if len(p.operands) == 0 || p.has("--list", "-l", "--contains", "--no-contains", "--points-at", "--merged", "--no-merged", "-v", "--verify") {
		return ""
	}
	p.word = p.operands[0]
	return "git tag with a name makes a tag"
}

func checkGitConfig(p *parsed) string {
	if p.has("--list", "-l", "--get", "--get-all", "--get-regexp", "--get-urlmatch") {
		return ""
	}
	if n := len(p.operands); n == 1 && p.words[p.operands[0]].Fixed && strings.Contains(p.operand(0), ".") || n == 2 && p.operand(0) == "get" || n == 1 && p.operand(0) == "list" {
		return ""
	}
	return "git config may change a setting"
}
