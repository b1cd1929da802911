package command

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// evaluate judges eval, which joins its arguments to a line.
func (w *shell) evaluate(args call, at place) {
	for len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		w.raise(verdict{class: ReadOnly}, at)
		return
	}
	line := arg{text: args.joined(), dynamic: args.dynamic(), remote: slices.ContainsFunc(args, func(a arg) bool { return a.remote })}
	w.program("sh", line, nil, at)
}

// sourced judges the commands that run a file in the same shell.
func (w *shell) sourced(name string, args call, at place) {
	w.raise(unknown(name+" runs what a file holds"), at)
	if len(args) == 0 {
		return
	}
	if args[0].remote || w.loaded[args[0].text] {
		w.raise(dangerous(RemoteCode, "it runs what comes from elsewhere"), at)
	}
	if args[0].text == "/dev/stdin" || args[0].text == "-" {
		w.reads("sh", at)
	}
}

// positional remembers what set makes the parameters: set -- a b.
func (w *shell) positional(args call) {
	if len(args) == 0 || strings.HasPrefix(args[0].text, "-") && args[0].text != "--" {
		return
	}
	if args[0].text == "--" {
		args = args[1:]
	}
	w.params = append([]arg{{text: "sh"}}, args...)
}

// jobs judges the lines of a new crontab.
func (w *shell) jobs(args call, at place) {
	if !w.in.known || args.last() != "-" {
		return
	}
	for line := range strings.Lines(w.in.text) {
		if fields := strings.Fields(line); len(fields) > 5 {
			w.script(strings.Join(fields[5:], " "), true, at)
		}
	}
}

// later judges the lines that trap and alias keep.
func (w *shell) later(name string, args call, at place) {
	w.raise(unknown(name+" keeps a command for later"), at)
	for i, a := range args {
		line := a.text
		if name == "alias" {
			_, line, _ = strings.Cut(line, "=")
		} else if i > 0 {
			break
		}
		w.script(line, true, at)
	}
}

// runsFor judges the commands that others run for each of what they find or are given.
func (w *shell) runsFor(name string, args call, at place) {
	switch name {
	case "find":
		for i := 0; i < len(args); i++ {
			switch args[i].text {
			case "-exec", "-execdir", "-ok", "-okdir":
				start := i + 1
				for i++; i < len(args) && args[i].text != ";" && args[i].text != "+"; i++ {
				}
				if inner := args[start:min(i, len(args))]; len(inner) > 0 {
					w.command(inner, at)
				}
			}
		}
	case "fd", "fdfind":
		for i, a := range args {
			if (a.text == "-x" || a.text == "-X" || a.text == "--exec" || a.text == "--exec-batch") && i+1 < len(args) {
				w.command(args[i+1:], at)
			}
		}
	case "parallel":
		w.parallel(args, at)
	case "git", "ssh", "scp", "sftp", "rsync", "tar", "zip": // -c alias.x='!…', -o ProxyCommand=…, --to-command=…
		for i, a := range args {
			if _, line, ok := strings.Cut(a.text, "="); ok || i > 0 && text.Lists("-e -TT -I -F --rsh", args[i-1].text) {
				if !ok {
					line = a.text
				}
				w.script(strings.TrimLeft(strings.TrimPrefix(line, "exec="), "!"), true, at)
			}
		}
	default: // tmux, screen, ansible, salt: a command stands among the arguments
		for i, a := range args {
			w.suspect(args[i:], at)
			if strings.Contains(a.text, " ") {
				w.script(a.text, true, at)
			}
		}
	}
}

// parallel judges the command of GNU parallel with its arguments.
func (w *shell) parallel(args call, at place) {
	const marks = "::: :::: :::+ ::::+"
	end := slices.IndexFunc(args, func(a arg) bool { return text.Lists(marks, a.text) })
	if end < 0 {
		end = len(args)
		if w.in.known {
			w.script(w.in.text, true, at)
		}
	}
	command := args[:end]
	for len(command) > 0 && strings.HasPrefix(command[0].text, "-") {
		n := 1
		if text.Lists("-j -P -S -a -n -N -d -C -I --jobs --colsep --sshlogin --delay --timeout", command[0].text) {
			n = 2
		}
		command = command[min(n, len(command)):]
	}
	values := args[min(end+1, len(args)):]
	if len(command) > 0 {
		w.sub(command, at)
	}
	for _, v := range values {
		w.script(command.joined()+" "+v.text, true, at)
	}
}
