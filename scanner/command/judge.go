package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
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

// judge judges a command by its name and arguments.
func (w *shell) judge(name string, args call) verdict {
	if v, ok := judgeDevice(name, args); ok && !w.host {
		return v
	}
	if v, ok := w.judgeDatabase(name, args); ok {
		return v
	}
	for prefix, same := range map[string]string{"mkfs.": "mkfs", "fsck.": "fsck", "mount.": "mount"} {
		if strings.HasPrefix(name, prefix) {
			name = same
		}
	}
	p, ok := programs[name]
	if !ok {
		return judgeVerbs(name, args)
	}
	if len(args) == 1 && (args[0].text == "--help" || args[0].text == "--version") || p.asks(args) {
		return verdict{class: ReadOnly}
	}
	if p.judge != nil {
		return p.judge(args)
	}
	if p.class == ReadOnly && args.dynamic() && (p.except != "" || p.limit > 0) {
		return unknown("an argument of " + name + " is only known at run time")
	}
	for _, f := range strings.Fields(p.except) {
		if args.has(f) {
			return unknown(name + " " + f + " does more than read")
		}
	}
	switch {
	case p.class == ReadOnly && p.limit > 0 && len(args.operands()) >= p.limit:
		return mutate(name + " with an argument changes something")
	case p.class == ReadOnly:
		return verdict{class: ReadOnly}
	case p.writes:
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
	except   string // flags with which a reader does more than read
	limit    int    // number of operands from which on a reader changes something
	writes   bool   // its operands are files that it changes
	reads    string // flags with which it only reads
	verbs    string // first operands with which it only reads
	judge    func(args call) verdict
}

// asks reports whether the arguments only ask something of a program that can do more.
func (p program) asks(args call) bool {
	if args.dynamic() {
		return false
	}
	for _, f := range strings.Fields(p.reads) {
		if args.has(f) {
			return true
		}
	}
	return p.verbs != "" && text.Words(p.verbs).HasString(args.first())
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
