package scanner

import (
	"slices"
	"strings"
)

// wrappers are commands that run the command that follows. The value lists their options that
// take an argument of their own.
var wrappers = map[string]string{
	"sudo": "-u -g -h -p -C -T -r -t --user --group --host --prompt --role --type", "doas": "-u -C",
	"env": "-u --unset", "nice": "-n --adjustment", "ionice": "-c -n -p --class --classdata",
	"timeout": "-s -k --signal --kill-after", "nohup": "", "setsid": "", "stdbuf": "-i -o -e --input --output --error",
	"time": "-f -o --format --output", "command": "", "builtin": "", "exec": "-a", "busybox": "", "toybox": "",
	"xargs": "-I -i -n -P -L -d -a -s -E --max-args --max-procs --replace --delimiter --arg-file", "watch": "-n -d --interval",
	"taskset": "-c", "chrt": "", "caffeinate": "", "unbuffer": "",
}

// unwrap takes a wrapper off. ok is false where the command is none; the result is empty where
// a wrapper stands alone.
func unwrap(args []arg) (inner []arg, ok bool) {
	name := baseName(args[0].text)
	options, ok := wrappers[name]
	if !ok || args[0].dynamic {
		return nil, false
	}
	rest := args[1:]
	for len(rest) > 0 && !rest[0].dynamic && strings.HasPrefix(rest[0].text, "-") && len(rest[0].text) > 1 {
		flag := rest[0].text
		if name == "env" && (flag[1] == 'S' || flag[1] == 'C' || strings.HasPrefix(flag, "--s") || strings.HasPrefix(flag, "--c")) || name == "command" && (flag == "-v" || flag == "-V") ||
			name == "time" && (flag == "-o" || strings.HasPrefix(flag, "--output")) || name == "sudo" && sudoAlone(flag) {
			return nil, false // judged as a command of its own
		}
		rest = rest[1:]
		if flag == "--" {
			break
		}
		for _, option := range strings.Fields(options) {
			if flag == option && len(rest) > 0 {
				rest = rest[1:]
				break
			}
		}
	}
	switch name {
	case "timeout", "taskset", "chrt":
		if len(rest) > 0 {
			rest = rest[1:] // the duration, the mask, the priority
		}
	case "env", "sudo", "doas":
		for len(rest) > 0 && !rest[0].dynamic && strings.Contains(rest[0].text, "=") {
			if name, _, _ := strings.Cut(rest[0].text, "="); !harmlessVariables.has([]byte(strings.ToLower(name))) && !strings.HasPrefix(name, "LC_") {
				return nil, false // it changes what the command does
			}
			rest = rest[1:]
		}
	}
	if name == "xargs" && len(rest) > 0 {
		rest = append(slices.Clone(rest), arg{text: "{}", dynamic: true}) // what it reads
	}
	return rest, true
}

// sudoAlone reports whether sudo does something of its own with the flag.
func sudoAlone(flag string) bool {
	switch flag {
	case "-e", "-i", "-s", "-l", "-K", "-k", "-v", "-D", "-R", "--edit", "--login", "--shell", "--list":
		return true
	}
	return false
}

// shellLine returns the command line that a shell or eval is given to run.
func shellLine(name string, args []arg) (line arg, ok bool) {
	switch name {
	case "eval":
		for i, a := range args {
			if i > 0 {
				line.text += " "
			}
			line.text += a.text
			line.dynamic = line.dynamic || a.dynamic
		}
		return line, len(args) > 0
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "su":
	default:
		return arg{}, false
	}
	for i, a := range args {
		if a.dynamic {
			return arg{}, false
		}
		long := strings.HasPrefix(a.text, "--")
		if a.text == "--command" || !long && strings.HasPrefix(a.text, "-") && strings.HasSuffix(a.text, "c") {
			for _, line := range args[i+1:] {
				if !strings.HasPrefix(line.text, "-") {
					return line, len(args) == i+2 || name == "su"
				}
			}
		}
	}
	return arg{}, false
}

// executed returns the commands that find runs for what it finds.
func executed(name string, args []arg) (commands [][]arg) {
	if name != "find" {
		return nil
	}
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			start := i + 1
			for i++; i < len(args) && args[i].text != ";" && args[i].text != "+"; i++ {
			}
			commands = append(commands, args[start:min(i, len(args))])
		}
	}
	return commands
}

// interpreters run programs.
var interpreters = words(`sh bash dash zsh ksh ash fish csh tcsh python python2 python3 perl ruby node nodejs deno bun php lua
	tclsh awk gawk mawk expect osascript pwsh powershell psql mysql sqlite3`)

// readsProgram reports whether an interpreter with these arguments reads its program from its
// standard input: without a file, or with - for one.
func readsProgram(args []arg) bool {
	for _, a := range args {
		if a.dynamic || a.text == "-" || a.text == "-s" || a.text == "/dev/stdin" {
			return true
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-c" || a.text == "-e" || a.text == "-n" || a.text == "--version" {
			return false
		}
	}
	return true
}
