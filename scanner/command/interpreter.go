package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// interpreters run programs. The value says which language, and with which options one is given
// as an argument.
var interpreters = map[string]struct {
	language string
	options  string // letters and long options; a letter may be the last of several
}{
	"sh": {"sh", "c"}, "bash": {"sh", "c"}, "dash": {"sh", "c"}, "zsh": {"sh", "c"}, "ksh": {"sh", "c"}, "ash": {"sh", "c"}, "fish": {"sh", "c --command"},
	"csh": {"sh", "c"}, "tcsh": {"sh", "c"}, "mksh": {"sh", "c"}, "yash": {"sh", "c"}, "rbash": {"sh", "c"}, "su": {"sh", "c --command"}, "hush": {"sh", "c"},
	"script": {"sh", "c --command"}, "vagrant": {"sh", "c --command"}, "at": {"sh", ""}, "batch": {"sh", ""}, "sg": {"sh", "c"}, "newgrp": {"sh", "c"},
	"python": {"python", "c"}, "pypy": {"python", "c"}, "ipython": {"python", "c"}, "sage": {"python", "c"}, "jython": {"python", "c"}, "micropython": {"python", "c"},
	"node": {"javascript", "e p --eval --print"}, "nodejs": {"javascript", "e p --eval --print"}, "deno": {"javascript", "eval"}, "bun": {"javascript", "e --eval"},
	"tsx": {"javascript", "e --eval"}, "osascript": {"script", "e"}, "qjs": {"javascript", "e --eval"},
	"perl": {"script", "e E"}, "ruby": {"script", "e"}, "php": {"script", "r"}, "lua": {"script", "e"}, "luajit": {"script", "e"}, "Rscript": {"script", "e"},
	"R": {"script", "e"}, "julia": {"script", "e --eval"}, "elixir": {"script", "e"}, "erl": {"script", "-eval"}, "groovy": {"script", "e"}, "scala": {"script", "e"},
	"expect": {"script", "c"}, "tclsh": {"script", ""}, "emacs": {"script", "--eval"}, "vim": {"script", "c"}, "vi": {"script", "c"}, "nvim": {"script", "c"}, "ex": {"script", "c"},
	"gdb": {"script", "-ex --eval-command"}, "pwsh": {"sh", "c -Command -command"}, "powershell": {"sh", "c -Command -command"}, "cmd": {"sh", "/c /C /k"},
	"awk": {"awk", ""}, "gawk": {"awk", ""}, "mawk": {"awk", ""}, "nawk": {"awk", ""}, "ed": {"script", ""},
}

// interprets judges commands that run programs they are given: as an argument, in a file or on
// their standard input.
func (w *shell) interprets(name string, all []arg, at place) bool {
	args := call(all[1:])
	switch name {
	case "eval":
		w.record(name, all)
		w.evaluate(args, at)
		return true
	case ".", "source":
		w.record(name, all)
		w.sourced(name, args, at)
		return true
	case "trap", "alias":
		w.record(name, all)
		w.later(name, args, at)
		return true
	case "set":
		w.positional(args)
	case "crontab":
		w.jobs(args, at)
	case "parallel", "find", "fd", "fdfind", "tmux", "screen", "ansible", "salt", "git", "ssh", "scp", "sftp", "rsync", "tar", "zip":
		if r, _ := usage.Read(name, usageWords(args)); !r.Reads || name == "find" {
			w.runsFor(name, args, at)
		}
		return false
	}
	i, ok := interpreters[name]
	if !ok {
		i, ok = interpreters[strings.TrimRight(name, "0123456789.")]
	}
	if !ok {
		return false
	}
	if name == "at" || name == "batch" {
		args = nil // the time
	}
	if r, known := w.prove(name, args); known && r.Reads && w.functions[name] == nil {
		w.record(name, all)
		w.raise(verdict{class: ReadOnly}, at)
		w.explain(name, args, r, verdict{class: ReadOnly})
		return true
	}
	code, rest, found := givenProgram(args, i.options, i.language)
	if !found && tools.HasFoldString(name) {
		return false
	}
	w.record(name, all)
	if len(args) == 1 && !args[0].dynamic && (text.Lists("--version --help", args[0].text) || i.language == "python" && args[0].text == "-V") {
		w.raise(verdict{class: ReadOnly}, at)
		return true
	}
	switch {
	case found && i.language == "sh" && name == "su":
		w.raise(mutate(otherRights), at)
		w.program(i.language, code, rest, at)
	case found:
		if i.language == "sh" && !runsOnly(name, args[:max(0, len(args)-len(rest)-1)]) {
			w.raise(unknown(name+" may run or write more than the program that it is given"), at)
		}
		w.program(i.language, code, rest, at)
	case text.Lists("sh bash dash zsh ksh ash", name) && len(args) == 2 && args[0].text == "-n" && !args.dynamic() && !strings.HasPrefix(args[1].text, "-"):
		w.raise(verdict{class: ReadOnly}, at) // it only checks the syntax
	case readsProgram(args):
		w.raise(unknown(name+" runs what it reads"), at)
		w.reads(i.language, at)
	case i.language == "script" && (name == "vim" || name == "vi" || name == "nvim" || name == "ed" || name == "ex" || name == "emacs"):
		w.raise(worst(name, args.operands()), at)
		w.raise(unknown(name+" is interactive"), at)
	default:
		w.raise(unknown(name+" runs a program from a file"), at)
		if f := args.operands(); len(f) > 0 && (f[0].remote || w.loaded[f[0].text]) {
			w.raise(dangerous(RemoteCode, "it runs what comes from elsewhere"), at)
		}
	}
	return true
}

// givenProgram returns the program among the arguments of an interpreter and what follows it.
func givenProgram(args call, options, language string) (code arg, rest call, ok bool) {
	if language == "awk" {
		for i, a := range args {
			if !strings.HasPrefix(a.text, "-") && (i == 0 || !text.Lists("-F -v -f", args[i-1].text)) {
				return a, args[i+1:], !args.has("f", "--file")
			}
		}
		return arg{}, nil, false
	}
	for i, a := range args {
		flag := a.text
		if language == "sh" && i > 0 && text.Lists("-o +o -O +O --rcfile --init-file", args[i-1].text) {
			continue
		}
		for _, option := range strings.Fields(options) {
			long := len(option) > 1
			switch {
			case long && flag == option, !long && flag == "-"+option:
			case !long && len(flag) > 2 && flag[0] == '-' && flag[1] != '-' && strings.HasSuffix(flag, option) && strings.Trim(flag[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0") == "":
			case long && strings.HasPrefix(option, "--") && strings.HasPrefix(flag, option+"="):
				return arg{text: flag[len(option)+1:], dynamic: a.dynamic, remote: a.remote}, args[i+1:], true
			case !long && len(flag) > 2 && strings.HasPrefix(flag, "-"+option) && language != "sh":
				return arg{text: flag[2:], dynamic: a.dynamic, remote: a.remote}, args[i+1:], true
			default:
				continue
			}
			for j := i + 1; j < len(args); j++ {
				if language != "sh" || !strings.HasPrefix(args[j].text, "-") && !strings.HasPrefix(args[j].text, "+") {
					if strings.HasPrefix(option, "-Command") || strings.HasPrefix(option, "/") {
						return arg{text: args[j:].joined(), dynamic: args[j:].dynamic(), remote: args[j].remote}, nil, true
					}
					return args[j], args[j+1:], true
				}
			}
		}
		if language == "sh" && flag != "" && flag[0] != '-' && flag[0] != '+' && options == "c" {
			return arg{}, nil, false // a script, whose arguments follow
		}
	}
	return arg{}, nil, false
}

// program judges a program in one of the languages.
func (w *shell) program(language string, code arg, rest call, at place) {
	if code.remote {
		w.raise(dangerous(RemoteCode, "it runs what comes from elsewhere"), at)
	}
	if language == "sh" {
		if code.dynamic {
			w.raise(unknown("a shell runs a line that is only known at run time"), at)
		}
		if strings.HasPrefix(code.text, notYet) && len(rest) > 0 {
			w.suspect(rest, at)
		}
		w.script(code.text, code.dynamic, at, rest...)
		return
	}
	w.raise(unknown("a program is run"), at)
	if w.quoted >= maxQuoted {
		w.raise(dangerous("", "programs are nested too deep to be told apart"), at)
		return
	}
	var effects []effect
	switch text := withoutHoles(code.text); language {
	case "python":
		effects = codeEffects(text, Python, w.quoted+1)
	case "javascript":
		effects = codeEffects(text, JavaScript, w.quoted+1)
	default:
		effects = scriptEffects(text, w.quoted+1)
	}
	for _, e := range effects {
		w.raise(e.verdict, at)
	}
}

// reads judges an interpreter that runs what it reads.
func (w *shell) reads(language string, at place) {
	if w.in.known {
		w.program(language, arg{text: w.in.text, dynamic: strings.Contains(w.in.text, notYet)}, nil, at)
	}
	switch {
	case w.in.remote:
		w.raise(dangerous(RemoteCode, "it runs what comes from elsewhere"), at)
	case w.in.decoded:
		w.raise(dangerous(RemoteCode, "it runs what was encoded"), at)
	}
}

// readsProgram reports whether an interpreter with these arguments reads its program from its
// standard input: without a file, or with - for one.
func readsProgram(args []arg) bool {
	for _, a := range args {
		if a.text == "-" || a.text == "-s" || a.text == "/dev/stdin" {
			return true
		}
		if !strings.HasPrefix(a.text, "-") {
			return false
		}
	}
	return true
}
