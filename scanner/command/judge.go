package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/command/usage"
)

// call is the arguments of a command, with the ways to look at them.
type call []arg

// has reports whether one of the flags is given: "r" in -rf, "--recursive" as itself, shortened,
// or with a value. Words that begin with a dash and two letters are taken literally.
func (c call) has(flags ...string) bool {
	for _, a := range c {
		if a.text == "--" {
			return false
		}
		for _, f := range flags {
			switch {
			case strings.HasPrefix(f, "--"):
				name, _, _ := strings.Cut(a.text, "=")
				if len(name) > 2 && strings.HasPrefix(f, name) {
					return true
				}
			case strings.HasPrefix(f, "-"):
				if a.text == f {
					return true
				}
			case strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, f):
				return true
			}
		}
	}
	return false
}

// operands returns the arguments that are not flags.
func (c call) operands() call {
	var rest call
	for i, a := range c {
		if a.text == "--" {
			return append(rest, c[i+1:]...)
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			rest = append(rest, a)
		}
	}
	return rest
}

// first returns the first operand, "" without one.
func (c call) first() string {
	if rest := c.operands(); len(rest) > 0 {
		return rest[0].text
	}
	return ""
}

// dynamic reports whether some of the arguments are only known at run time.
func (c call) dynamic() bool {
	for _, a := range c {
		if a.dynamic {
			return true
		}
	}
	return false
}

// judge judges a command by its name and arguments. What only reads is proved by the grammar of the
// program; the judges below look for what is worse.
func (w *shell) judge(name string, args call) verdict {
	if v, ok := judgeDevice(name, args); ok && !w.host {
		w.explain(name, args, usage.Reading{Reads: true}, v)
		return v
	}
	r, known := w.prove(name, args)
	v := w.conclude(name, args, r, known)
	w.explain(name, args, r, v)
	return v
}

func (w *shell) conclude(name string, args call, r usage.Reading, known bool) verdict {
	_, changes := programs[family(name)]
	if known && r.Reads && r.Inner == 0 && !r.Judged || changes && asksHelp(args) {
		return verdict{class: ReadOnly}
	}
	v, ok := w.judgeDatabase(name, args, r)
	switch {
	case ok:
	case known && !changes && !tools.HasFoldString(name) && !usage.HasVerbs(name): // its operands are no verbs
		v = unknown(r.Reason)
	default:
		if v = judgeProgram(family(name), args); v.class == Unknown && known && !changes {
			v = unknown(r.Reason)
		}
	}
	if proved := known && r.Reads && r.Inner == 0; v.class == ReadOnly && !proved {
		return unknown(r.Reason)
	}
	return v
}

// family returns what the programs for the kinds of file systems are called together: mkfs for mkfs.ext4.
func family(name string) string {
	if head, _, ok := strings.Cut(name, "."); ok && (head == "mkfs" || head == "fsck" || head == "mount") {
		return head
	}
	return name
}

// asksHelp reports whether a program is only asked what it is.
func asksHelp(args call) bool {
	return len(args) == 1 && !args[0].dynamic && (args[0].text == "--help" || args[0].text == "--version")
}

// judgeProgram judges a program by the words that make it worse.
func judgeProgram(name string, args call) verdict {
	p, ok := programs[name]
	if !ok {
		return judgeVerbs(name, args)
	}
	if p.judge != nil {
		return p.judge(args)
	}
	if p.writes {
		return worst(name, args)
	}
	return verdict{class: p.class, category: p.category, reason: p.reason(name)}
}

// worst judges a command that writes its operands.
func worst(name string, args call) verdict {
	v := mutateFile(name + " changes files")
	for _, a := range args {
		text := a.text
		if strings.HasPrefix(text, "-") {
			// --target-directory=/etc, -t/etc
			i := strings.IndexAny(text, "=/~")
			if i < 0 {
				continue
			}
			text = strings.TrimPrefix(text[i:], "=")
		}
		if w := writes(arg{text: text, dynamic: a.dynamic}); severity(w.class) > severity(v.class) {
			v = w
		}
	}
	return v
}

// program is what is known about a command.
type program struct {
	class    Class
	category string
	writes   bool // its operands are files that it changes
	judge    func(args call) verdict
}

// reason says why the program is not read-only.
func (p program) reason(name string) string {
	switch p.category {
	case "":
		return name + " changes something"
	case Reload:
		return name + " restarts a system"
	case Erase:
		return name + " erases data or configuration"
	case Shutdown:
		return name + " takes a system or interface down"
	case CriticalProcess:
		return name + " ends or disables processes"
	case RecursiveDeletion:
		return name + " deletes recursively"
	case RawDiskWrite:
		return name + " writes to a disk directly"
	case Formatting:
		return name + " formats or repartitions a disk"
	}
	return name + " writes outside of the root"
}
