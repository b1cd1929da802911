package command

import (
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

func judgeRm(args call) verdict {
	if args.has("r", "R", "--recursive") {
		return dangerous(RecursiveDeletion, "rm deletes recursively")
	}
	return worst("rm", args)
}

func judgeFind(args call) verdict {
	v := verdict{class: ReadOnly}
	for i, a := range args {
		switch a.text {
		case "-delete":
			return dangerous(RecursiveDeletion, "find -delete deletes recursively")
		case "-exec", "-execdir", "-ok", "-okdir":
			if i+1 < len(args) && text.Lists("rm unlink shred srm", baseName(args[i+1].text)) {
				return dangerous(RecursiveDeletion, "find deletes what it finds")
			}
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			v = mutateFile("find writes a file")
			if i+1 < len(args) {
				v = worse(v, writes(args[i+1]))
			}
		}
	}
	return v
}

func judgeDd(args call) verdict {
	v := verdict{class: ReadOnly}
	for _, a := range args {
		if target, ok := strings.CutPrefix(a.text, "of="); ok || a.dynamic {
			if w := writes(arg{text: target, dynamic: a.dynamic}); severity(w.class) > severity(v.class) {
				v = w
			}
		}
	}
	return v
}

// judgeCopy judges a command that writes its last operand or its target directory.
func judgeCopy(name string) func(call) verdict {
	return func(args call) verdict {
		rest := args.operands()
		v := mutateFile(name + " writes files")
		if len(rest) > 0 {
			if w := writes(rest[len(rest)-1]); severity(w.class) > severity(v.class) {
				v = w
			}
		}
		if w := judgeTarget(name, "t", "--target-directory")(args); severity(w.class) > severity(v.class) {
			v = w
		}
		return v
	}
}

// judgeTarget judges a command that writes to what a flag names.
func judgeTarget(name string, flags ...string) func(call) verdict {
	return func(args call) verdict {
		v := mutateFile(name + " writes files")
		for i, a := range args {
			target := arg{dynamic: a.dynamic}
			for _, f := range flags {
				long := strings.HasPrefix(f, "--")
				switch {
				case long && strings.HasPrefix(a.text, f+"="):
					target.text = a.text[len(f)+1:]
				case long && a.text == f, !long && strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.HasSuffix(a.text, f):
					if i+1 < len(args) {
						target = args[i+1]
					}
				case !long && len(f) == 1 && strings.HasPrefix(a.text, "-"+f):
					target.text = a.text[2:]
				}
			}
			if target.text == "" && !target.dynamic {
				continue
			}
			if w := writes(target); severity(w.class) > severity(v.class) {
				v = w
			}
		}
		return v
	}
}

func judgeRsync(args call) verdict {
	if args.has("n", "--dry-run", "--list-only") && !args.dynamic() {
		return verdict{class: ReadOnly}
	}
	if args.has("--delete", "--delete-before", "--delete-after", "--delete-during", "--delete-delay", "--delete-excluded", "--del", "--remove-source-files") {
		return dangerous(RecursiveDeletion, "rsync deletes files")
	}
	if args.has("e", "--rsh", "--rsync-path") {
		return unknown("rsync runs a command")
	}
	return judgeCopy("rsync")(args)
}

func judgeTar(args call) verdict {
	mode := args.first()
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") {
			mode = a.text
			break
		}
	}
	if args.has("--to-command", "--checkpoint-action", "--use-compress-program", "I", "--rsh-command", "F", "--info-script") {
		return unknown("tar runs a command")
	}
	if strings.Contains(mode, "t") || args.has("--list") {
		return verdict{class: ReadOnly}
	}
	if args.has("P", "--absolute-names") {
		return dangerous(WriteOutsideRoot, "tar writes where the archive says")
	}
	return judgeTarget("tar", "C", "--directory", "f", "--file")(args)
}

// judgeOwner judges chmod and chown.
func judgeOwner(name string) func(call) verdict {
	return func(args call) verdict {
		rest := args.operands()
		if len(rest) > 0 && !args.has("--reference") {
			rest = rest[1:] // the mode or owner
		}
		return worst(name, rest)
	}
}

func judgeSysctl(args call) verdict {
	if args.has("w", "p", "--write", "--load", "--system") || strings.Contains(args.first(), "=") || args.dynamic() {
		return mutate("sysctl changes the kernel")
	}
	return verdict{class: ReadOnly}
}

func judgeIP(args call) verdict {
	if args.has("-b", "-batch", "--batch", "-force") || args.dynamic() {
		return unknown("ip runs what it reads")
	}
	rest := args.operands()
	for len(rest) > 1 && args[0].text == "-n" {
		args, rest = args[2:], rest[1:]
	}
	if len(rest) < 2 {
		return verdict{class: ReadOnly}
	}
	switch verb := rest[1].text; {
	case rest[0].text == "netns" && strings.HasPrefix("exec", verb):
		return unknown("ip netns exec runs a command")
	case text.Lists("show sho sh s list lis ls l get g monitor", verb):
		return verdict{class: ReadOnly}
	}
	for _, a := range rest[2:] {
		if a.text == "down" {
			return dangerous(Shutdown, "ip takes an interface down")
		}
	}
	if verb := rest[1].text; strings.HasPrefix("flush", verb) || strings.HasPrefix("delete", verb) {
		return dangerous(Erase, "ip removes configuration")
	}
	return mutate("ip changes the network")
}

// sedScript is a script that only prints and replaces: no w, e, r or W.
var sedScript = regexp.MustCompile(`^(?:[0-9$,!~+ ]*(?:/[^/\\]*/)?(?:,[0-9$]+|,/[^/\\]*/)?[ !]*(?:[pqdn=lPDN]|s([/|#,])[^/|#,\\]*[/|#,][^/|#,\\]*[/|#,][gpiI0-9]*)?[; ]*)+$`)

func judgeSed(args call) verdict {
	if args.dynamic() || args.has("f", "--file", "--expression") {
		return unknown("the script of sed is not known")
	}
	if args.has("i", "--in-place") {
		return worst("sed", args.operands()[min(1, len(args.operands())):])
	}
	if !sedScript.MatchString(args.first()) || args.has("e") {
		return unknown("the script of sed may write files or run commands")
	}
	return verdict{class: ReadOnly}
}

// judgeUniq judges uniq, whose second operand is a file to write.
func judgeUniq(args call) verdict {
	if rest := args.operands(); len(rest) > 1 {
		return writes(rest[1])
	}
	return readsUnless(args)
}

// judgeGo judges the go command; what builds or lists packages may run tools that flags name.
func judgeGo(args call) verdict {
	if text.Lists("version doc env help", args.first()) && !args.has("w", "u", "--w") {
		return readsUnless(args)
	}
	return mutate("go builds or changes something")
}
