package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// wrapper is a command that runs the command that follows.
type wrapper struct {
	values string // its options that take an argument of their own
	flags  string // if set: its options that take none, all others do
	skip   int    // operands before the command
	joined bool   // the words are joined to a line that a shell runs
	floor  string // why the command is not harmless whatever it is
	verbs  string // the first operand with which it is a wrapper; the operand is skipped
	after  string // the word after which the command stands
}

const (
	otherRights = "it runs with other rights"
	otherHost   = "it runs on another host"
	otherSpace  = "it runs in a container or another space"
	otherWay    = "it runs with other settings"
)

var wrappers = map[string]wrapper{
	"sudo":   {values: "-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --role --type --chdir --chroot --close-from --other-user", floor: otherRights},
	"doas":   {values: "-u -C", floor: otherRights},
	"pkexec": {values: "--user", floor: otherRights}, "gosu": {skip: 1, floor: otherRights}, "su-exec": {skip: 1, floor: otherRights},
	"runuser": {values: "-u -g -G --user --group -s", floor: otherRights}, "setpriv": {values: "", floor: otherRights},
	"env": {values: "-u --unset -C --chdir"}, "nice": {values: "-n --adjustment"}, "ionice": {values: "-c -n -p --class --classdata"},
	"timeout": {values: "-s -k --signal --kill-after", skip: 1}, "nohup": {}, "setsid": {}, "stdbuf": {values: "-i -o -e --input --output --error"},
	"time": {values: "-f -o --format --output"}, "command": {}, "builtin": {}, "exec": {values: "-a"}, "busybox": {}, "toybox": {}, "noglob": {}, "nocorrect": {},
	"watch":   {values: "-n -d --interval", joined: true},
	"taskset": {skip: 1}, "chrt": {skip: 1}, "caffeinate": {values: "-t -w"}, "unbuffer": {}, "cpulimit": {values: "-l -p -e --limit"},
	"strace": {values: "-e -o -p -s -a -E -u", floor: otherWay}, "ltrace": {values: "-e -o -p -s -a -u -n", floor: otherWay},
	"fakeroot": {}, "proxychains": {values: "-f"}, "proxychains4": {values: "-f"}, "torsocks": {}, "dbus-run-session": {}, "xvfb-run": {values: "-s -n -e"},
	"torify": {}, "rlwrap": {}, "tini": {}, "dumb-init": {}, "setuidgid": {skip: 1, floor: otherRights}, "cgexec": {values: "-g", floor: otherWay}, "catchsegv": {}, "valgrind": {floor: otherWay}, "eatmydata": {}, "chronic": {}, "ts": {}, "faketime": {skip: 1}, "softlimit": {},
	"systemd-run":     {values: "-p -u -E -H -M --unit --property --description --slice --setenv --on-active --on-calendar --uid --gid --working-directory", floor: otherRights},
	"systemd-inhibit": {}, "setarch": {skip: 1}, "linux64": {}, "linux32": {}, "prlimit": {}, "numactl": {values: "-C -m -N -i -p"}, "firejail": {},
	"flock":  {values: "-w -E --timeout --wait --conflict-exit-code", skip: 1},
	"chroot": {skip: 1, floor: otherSpace}, "nsenter": {values: "-t -S -G --target --setuid --setgid", floor: otherSpace}, "unshare": {values: "-S -G -R -w", floor: otherSpace},
	"bwrap": {values: "--bind --ro-bind --dev --proc --tmpfs --chdir --setenv", floor: otherSpace},
	"ssh": {
		values: "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B", skip: 1, joined: true, floor: otherHost,
	},
	"mosh": {skip: 1, floor: otherHost}, "sshpass": {values: "-p -f -d -P"}, "autossh": {values: "-M -o -p -i -L -R -l", skip: 1, joined: true, floor: otherHost},
	"rsh": {values: "-l", skip: 1, joined: true, floor: otherHost}, "pdsh": {values: "-w -x -l -t -u -f -g", joined: true, floor: otherHost},
	"pssh": {values: "-h -H -l -p -o -e -t -O", joined: true, floor: otherHost}, "parallel-ssh": {values: "-h -H -l -p -o -e -t -O", joined: true, floor: otherHost},
	"clush":          {values: "-w -g -x -l -f", joined: true, floor: otherHost},
	"docker":         {verbs: "exec run", flags: containerFlags, skip: 1, floor: otherSpace},
	"podman":         {verbs: "exec run", flags: containerFlags, skip: 1, floor: otherSpace},
	"nerdctl":        {verbs: "exec run", flags: containerFlags, skip: 1, floor: otherSpace},
	"crictl":         {verbs: "exec", flags: containerFlags, skip: 1, floor: otherSpace},
	"docker-compose": {verbs: "exec run", flags: containerFlags + " -T", skip: 1, floor: otherSpace},
	"kubectl":        {verbs: "exec run debug", after: "--", floor: otherSpace}, "oc": {verbs: "exec rsh debug run", after: "--", floor: otherSpace}, "k3s": {},
	"lxc": {verbs: "exec", after: "--", floor: otherSpace}, "incus": {verbs: "exec", after: "--", floor: otherSpace}, "multipass": {verbs: "exec", after: "--", floor: otherSpace},
	"machinectl": {verbs: "shell", skip: 1, floor: otherSpace}, "toolbox": {verbs: "run", values: "-c -d -r", floor: otherSpace}, "distrobox": {verbs: "enter", after: "--", floor: otherSpace},
	"ip":    {verbs: "netns", skip: 2, floor: otherSpace},
	"xargs": {values: "-I -i -n -P -L -d -a -s -E --max-args --max-procs --replace --delimiter --arg-file --max-lines"},
}

const containerFlags = "-d -i -t -it -ti -itd -dit -T --rm --privileged --init --read-only -P --detach --interactive --tty --no-deps --publish-all --no-healthcheck --help -q --quiet"

// unwrap takes a wrapper off. ok is false where the command is none; the result is empty where
// a wrapper stands alone or its command was judged.
func (w *shell) unwrap(args []arg, at place) (inner []arg, ok bool) {
	name := baseName(args[0].text)
	s, ok := wrappers[name]
	if !ok {
		return nil, false
	}
	if !carriers.HasString(name) {
		w.beyond = true
	}
	rest := call(args[1:])
	if s.verbs != "" {
		i := rest.verb(name)
		if i < 0 || !text.Lists(s.verbs, rest[i].text) || name == "ip" && (i+1 >= len(rest) || !strings.HasPrefix(rest[i+1].text, "e")) {
			if name == "docker" && i >= 0 && rest[i].text == "compose" {
				return append([]arg{{text: "docker-compose"}}, rest[i+1:]...), true
			}
			return nil, false
		}
		rest = rest[i+1:]
	}
	if s.after != "" {
		return w.behind(name, s, rest, args, at)
	}
	if name == "command" && len(rest) > 0 && text.Lists("-v -V", rest[0].text) || name == "sudo" && sudoAlone(rest) || s.floor == "" && len(rest) == 0 || name == "time" && rest.has("o", "--output") || name == "ip" && len(rest) == 0 {
		return nil, false // judged as a command of its own
	}
	r := w.prefix(name, s, args, at)
	rest, line := w.options(name, s, rest, at)
	if line {
		return nil, true
	}
	for range s.skip {
		if len(rest) > 0 {
			rest = rest[1:] // a duration, a host, a container
		}
	}
	if name == "flock" && len(rest) > 1 && (rest[0].text == "-c" || rest[0].text == "--command") {
		w.script(rest[1].text, rest[1].dynamic, at)
		return nil, true
	}
	for name == "sshpass" && len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
		rest = rest[1:]
	}
	if s.floor != "" {
		w.raise(floor(s, name), at)
	}
	if len(rest) == 0 && name == "ssh" {
		w.reads("sh", at)
		w.record(name, args)
		return nil, true
	}
	if r.Inner > 0 {
		rest = args[r.Inner:]
	}
	if len(rest) == 0 {
		return nil, false
	}
	switch {
	case s.joined:
		w.record(name, args)
		w.sub(rest, at)
		return nil, true
	case name == "xargs":
		return w.xargs(args, rest, at), true
	}
	return rest, true
}

// prefix asks the grammar of a wrapper where its command stands. Without an answer the line is not said to
// read, and where the command probably stands is looked for by other means.
func (w *shell) prefix(name string, s wrapper, args []arg, at place) (r usage.Reading) {
	switch s.floor {
	case otherRights:
		w.trait(usage.Privileged)
	case otherHost:
		w.trait(usage.Network)
	}
	if !usage.Runs(name) {
		if s.floor == "" {
			w.raise(unknown("how "+name+" reads its words is not known"), at)
		}
		return r
	}
	if r, _ = w.prove(name, args[1:]); !r.Reads {
		w.raise(unknown(r.Reason), at)
		w.explain(name, args[1:], r, unknown(r.Reason))
	}
	return r
}

// floor is what a wrapper does whatever it runs.
func floor(s wrapper, name string) verdict {
	if s.floor == otherRights && name != "systemd-run" {
		return mutate(s.floor)
	}
	return unknown(s.floor)
}

// options takes the options of a wrapper off, and the variables that env and sudo set. line says
// that an option held the command, which was judged.
func (w *shell) options(name string, s wrapper, rest call, at place) (_ call, line bool) {
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && len(rest[0].text) > 1 {
		flag := rest[0].text
		if flag == "--" {
			rest = rest[1:]
			break
		}
		if text, n, ok := commandOption(name, rest); ok {
			w.script(text.text, text.dynamic, at)
			for _, a := range rest[n:] {
				w.suspect([]arg{a}, at)
			}
			return nil, true
		}
		if name == "env" && (strings.HasPrefix(flag, "-C") || strings.HasPrefix(flag, "--chdir")) {
			w.raise(unknown("env leads to another folder"), at)
			w.away = true
		}
		n := 1
		if s.takes(flag) && len(rest) > 1 {
			n = 2
		}
		rest = rest[n:]
	}
	for (name == "env" || name == "sudo" || name == "doas") && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
		if variable, _, _ := strings.Cut(rest[0].text, "="); !usage.Harmless(variable) {
			w.raise(unknown("it sets a variable"), at)
		}
		rest = rest[1:]
	}
	return rest, false
}

// takes reports whether an option takes the next word.
func (s wrapper) takes(flag string) bool {
	if s.flags != "" {
		return !text.Lists(s.flags, flag) && !strings.Contains(flag, "=") && (strings.HasPrefix(flag, "--") || len(flag) == 2)
	}
	return text.Lists(s.values, flag)
}

// commandOption returns the line that an option of a wrapper holds, and how many words that takes.
func commandOption(name string, rest call) (line arg, n int, ok bool) {
	flag := rest[0].text
	var short, long string
	switch name {
	case "env":
		short, long = "-S", "--split-string"
	case "flock", "runuser":
		short, long = "-c", "--command"
	default:
		return arg{}, 0, false
	}
	switch {
	case flag == short || flag == long || strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.HasSuffix(flag, short[1:]):
		if len(rest) > 1 {
			return rest[1], 2, true
		}
	case strings.HasPrefix(flag, long+"="):
		return arg{text: flag[len(long)+1:], dynamic: rest[0].dynamic}, 1, true
	case strings.HasPrefix(flag, short):
		return arg{text: flag[len(short):], dynamic: rest[0].dynamic}, 1, true
	}
	return arg{}, 0, false
}

// sudoAlone reports whether sudo runs no command.
func sudoAlone(rest call) bool {
	if r, _ := usage.Read("sudo", usageWords(rest)); r.Reads {
		return true
	}
	for _, a := range rest {
		switch a.text {
		case "-e", "-l", "-K", "-k", "-v", "--edit", "--list", "--validate", "--remove-timestamp", "--reset-timestamp":
			return true
		}
		if !strings.HasPrefix(a.text, "-") {
			return false
		}
	}
	return true
}

// behind takes off a wrapper whose command stands after a mark, or after the first operand.
func (w *shell) behind(name string, s wrapper, rest call, args []arg, at place) ([]arg, bool) {
	w.raise(unknown(s.floor), at)
	for i, a := range rest {
		if a.text == s.after && !a.dynamic {
			if i+1 == len(rest) {
				break
			}
			return rest[i+1:], true
		}
	}
	if operands := rest.operands(); len(operands) > 1 {
		for i := range rest { // without the mark: whatever could be the command
			w.suspect(rest[i:], at)
		}
	}
	w.reads("sh", at)
	w.record(name, args)
	return nil, true
}

// xargs returns the command that xargs runs, with what it reads.
func (w *shell) xargs(args, rest []arg, at place) []arg {
	w.lookAt("xargs", args[1:]) // which gives files by names that come from elsewhere
	input := arg{text: notYet, source: "{}", dynamic: true, remote: w.in.remote || w.in.decoded}
	if w.in.known {
		input.text = strings.Join(strings.Fields(w.in.text), " ")
	}
	mark := ""
	for i, a := range args[:len(args)-len(rest)] {
		switch {
		case (a.text == "-I" || a.text == "--replace") && i+1 < len(args):
			mark = args[i+1].text
		case strings.HasPrefix(a.text, "-I"):
			mark = a.text[2:]
		case a.text == "-i":
			mark = "{}"
		}
	}
	inner := make([]arg, 0, len(rest)+1)
	for _, a := range rest {
		if mark != "" && strings.Contains(a.text, mark) {
			a = arg{text: strings.ReplaceAll(a.text, mark, input.text), source: a.written(), dynamic: true, remote: input.remote}
		}
		inner = append(inner, a)
	}
	if !w.in.known && text.Lists("rm unlink shred", baseName(inner[0].text)) {
		w.raise(dangerous(RecursiveDeletion, "xargs deletes whatever it reads"), at)
	}
	if mark != "" {
		return inner
	}
	if w.in.known && !text.Words("sh bash dash zsh ksh").HasFoldString(baseName(inner[len(inner)-1].text)) && inner[len(inner)-1].text != "-c" {
		for _, f := range strings.Fields(w.in.text) {
			inner = append(inner, arg{text: f, source: "{}", dynamic: true})
		}
		return inner
	}
	return append(inner, input)
}
