package tools

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"github.com/svc-gateway/svc/scanner/command"
)

var accepted = []struct {
	line string
	want string // canonical words
}{
	{"df -h", "df -h"},
	{"  df   -hT  ", "df -h -T"},
	{"df -h -x tmpfs -x devtmpfs", "df -h -x tmpfs -x devtmpfs"},
	{"df -hxtmpfs", "df -h -x tmpfs"},
	{"df --exclude-type=tmpfs --total /", "df --exclude-type=tmpfs --total /"},
	{"df --output=source,pcent", "df --output=source,pcent"},
	{`"df" '-h'`, "df -h"},
	{"free -m", "free -m"},
	{"free --human-readable", ""},
	{"ps aux", "ps aux"},
	{"ps aux --sort=-%mem", "ps --sort=-%mem aux"},
	{"ps -ef", "ps -A -f"},
	{"ps -eo pid,user,pcpu,pmem,comm --sort=-pcpu", "ps -A -o pid,user,pcpu,pmem,comm --sort=-pcpu"},
	{"ps -opid -p 1,2", "ps -o pid -p 1,2"},
	{"uptime -p", "uptime -p"},
	{"ip -br addr", "ip -br addr"},
	{"ip -4 -json addr show dev eth0 up", "ip -4 -json addr show dev eth0 up"},
	{"ip route show table main", "ip route show table main"},
	{"ip a", "ip a"},
	{"ss -tuln", "ss -t -u -l -n"},
	{"ss -t state established", "ss -t state established"},
	{"uname -a", "uname -a"},
	{"hostname", "hostname"},
	{"date -u +%Y-%m-%dT%H:%M:%SZ", "date -u +%Y-%m-%dT%H:%M:%SZ"},
	{`date "+%A %d"`, "date +%A %d"},
	{"whoami", "whoami"},
	{"id -un", "id -u -n"},
	{"nproc --all", "nproc --all"},
	{"lsblk -o NAME,SIZE", ""},
	{"lsblk -o name,size -J", "lsblk -o name,size -J"},
	{"ls -la", "ls -l -a"},
	{"ls -la src 'my files'", "ls -l -a src my files"},
	{"cat README.md", "cat README.md"},
	{`cat "a*b"`, "cat a*b"},
	{"head -5 a.txt", "head -n 5 a.txt"},
	{"head -n5 a.txt", "head -n 5 a.txt"},
	{"tail --lines=+3 a.txt", "tail --lines=+3 a.txt"},
	{"tail --lines 3 a.txt", "tail --lines=3 a.txt"},
	{"wc -lw a.txt b.txt", "wc -l -w a.txt b.txt"},
	{"stat -c '%s %n' a.txt", "stat -c %s %n a.txt"},
	{"du -sh .", "du -s -h ."},
	{"du -d 1", "du -d 1"},
	{"ps -eo pid,user --sort user", "ps -A -o pid,user --sort=user"},
	{"ps -ef --forest", "ps -A -f --forest"},
	{"hostname -I", "hostname -I"},
	{"ip neigh show dev eth0", "ip neigh show dev eth0"},
	{"ss -tuanp", "ss -t -u -a -n -p"},
	{"date --iso-8601=seconds", "date --iso-8601=seconds"},
	{"tail -c +20 a.txt", "tail -c +20 a.txt"},
	{"cat -n a.txt", "cat -n a.txt"},
}

func TestCheckLineAccepts(t *testing.T) {
	for _, tt := range accepted {
		in, err := checkLine(tt.line)
		got := strings.Join(in.words(), " ")
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s: accepted as %q", tt.line, got)
			}
		} else if err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.line, got, err, tt.want)
		}
	}
}

// What the table allows is read-only to the analysis that the policy goes by: a command
// that it did not know was advertised by the tool and denied to everybody but an admin.
func TestAcceptedIsReadOnly(t *testing.T) {
	for _, tt := range accepted {
		if tt.want == "" {
			continue
		}
		if c := command.Analyze(tt.line); c.Class != command.ReadOnly {
			t.Errorf("%s: %s %v, want %s", tt.line, c.Class, c.Spans, command.ReadOnly)
		}
	}
}

// refused are attacks and mistakes, with what the error must name.
var refused = []struct{ line, says string }{
	// The shell.
	{"", "empty"},
	{"   ", "empty"},
	{"df -h; rm -rf /", "several commands"},
	{"df -h;", "semicolon"},
	{"df -h && id", "chain of commands (&&)"},
	{"df -h || id", "chain of commands (||)"},
	{"df -h | tee /etc/passwd", "chain of commands (|)"},
	{"df -h |& cat", "chain of commands"},
	{"df -h &", "background"},
	{"! df", "negation"},
	{"df > /tmp/x", "redirection (>)"},
	{"df >> /tmp/x", "redirection (>>)"},
	{"cat < /etc/shadow", "redirection (<)"},
	{"cat <<< x", "redirection (<<<)"},
	{"df 2>&1", "redirection"},
	{"df &> x", "redirection"},
	{"cat <(id)", "process substitution"},
	{"df $(id)", "command substitution"},
	{"df `id`", "command substitution"},
	{`df "$(id)"`, "command substitution"},
	{`cat "$HOME/.ssh/id_rsa"`, "variable"},
	{"cat $HOME", "variable"},
	{"cat ${HOME}", "variable"},
	{"cat $((1+1))", "arithmetic"},
	{"$0", "variable"},
	{"LD_PRELOAD=/tmp/x.so df", "setting variables"},
	{"X=1", "setting variables"},
	{"ls *", `"*" is not expanded`},
	{"ls ?", `"?" is not expanded`},
	{"ls [a-z]", "is not expanded"},
	{"ls {a,b}", "is not expanded"},
	{"ls ~", "is not expanded"},
	{"ls ~root/.ssh", "is not expanded"},
	{"ls @(a|b)", "file pattern"},
	{`ls a\ b`, "backslash"},
	{"df $'\\x2dh'", "backslash"},
	{"df $'-h'", "plain quotes"},
	{`df $"-h"`, "plain quotes"},
	{"df -h # all of them", "comments"},
	{"df\nid", "U+000A"},
	{"df\rid", "U+000D"},
	{"df \x00", "U+0000"},
	{"df \x1b[31m", "U+001B"},
	{"df \u202e", "U+202E"},
	{"df \u200b", "U+200B"},
	{"df \xff", "UTF-8"},
	{"df " + strings.Repeat("a", 5000), "longer than"},
	{"df 'x", "cannot be parsed"},
	{"df (", "cannot be parsed"},
	{"(df)", "group of commands"},
	{"{ df; }", "group of commands"},
	{"if true; then df; fi", "loop or condition"},
	{"while df; do id; done", "loop or condition"},
	{"for x in a; do df; done", "loop or condition"},
	{"f() { df; }", "function"},
	{"time df", "shell keyword"},
	{"coproc df", "shell"},
	{"[[ -f x ]]", "shell keyword"},
	{"((1))", "arithmetic"},
	{"export A=b", "shell keyword"},
	// Commands.
	{"rm -rf /", "the command rm is not allowed"},
	{"sudo df", "the command sudo is not allowed"},
	{"env df", "the command env is not allowed"},
	{"sh -c id", "the command sh is not allowed"},
	{"exec df", "the command exec is not allowed"},
	{"eval df", "the command eval is not allowed"},
	{". x", "the command . is not allowed"},
	{"/bin/df -h", "without its folder"},
	{"./df", "without its folder"},
	{"DF -h", "the command DF is not allowed"},
	{"''", "not allowed"},
	{"python3 -c 1", "python3"},
	{"awk 1", "awk"},
	{"find . -delete", "find"},
	{"xargs df", "xargs"},
	{"curl http://x", "curl"},
	{"dd if=/dev/zero of=/dev/sda", "dd"},
	{"shutdown -h now", "shutdown"},
	{"systemctl reload nginx", "systemctl"},
	// Flags.
	{"df --sync", "df --sync is not allowed"},
	{"df --help", "df --help is not allowed"},
	{"df -hZ", "df -Z is not allowed"},
	{"df -x", "df -x needs a value"},
	{"df -x -h", `the value "-h" is not allowed`},
	{"df -x=tmpfs", "is not allowed"},
	{"df --total=1", "takes no value"},
	{"df /etc/passwd", "df /etc/passwd is not allowed"},
	{"df -- -h", "df -- is not allowed"},
	{"df --exclude=tmpfs", "df --exclude is not allowed"}, // abbreviation
	{"free -s 1", "free -s is not allowed"},
	{"free -hs1", "free -s is not allowed"},
	{"free -c 3", "free -c is not allowed"},
	{"ps e", "ps e is not allowed"},
	{"ps auxe", "ps auxe is not allowed"},
	{"ps -auxe", "is not allowed"},
	{"ps aux e", "ps e is not allowed"},
	{"ps eww", "ps eww is not allowed"},
	{"ps -e u", "use either u or flags with a dash"},
	{"ps -ef aux", "use either aux"},
	{"ps axo pid,environ", "ps axo is not allowed"},
	{"ps -eo pid,environ", `the value "pid,environ" is not allowed`},
	{"ps -eo pid,e", "is not allowed"},
	{"ps -o pid=x,environ", "is not allowed"},
	{"ps --format=environ", "is not allowed"},
	{"ps -u root", "ps -u is not allowed"},
	{"ps -u e", "ps -u is not allowed"},
	{"ps -C e", "ps -C is not allowed"},
	{"ps -E", "ps -E is not allowed"},
	{"ps --sort=environ", "is not allowed"},
	{"ps -p e", "is not allowed"},
	{"ps 1", "ps 1 is not allowed"},
	{"ps -N", "ps -N is not allowed"},
	{"ip", "ip shows one of"},
	{"ip -batch x addr", "ip -batch is not allowed"},
	{"ip -b x", "ip -b is not allowed"},
	{"ip -force -batch x", "ip -force is not allowed"},
	{"ip netns exec x id", "ip shows one of"},
	{"ip -n x addr", "ip -n is not allowed"},
	{"ip -netns x addr", "ip -netns is not allowed"},
	{"ip -all netns exec id", "ip -all is not allowed"},
	{"ip link set eth0 down", "ip can only show"},
	{"ip addr add 10.0.0.1/8 dev eth0", "ip can only show"},
	{"ip addr del 10.0.0.1/8 dev eth0", "ip can only show"},
	{"ip addr flush dev eth0", "ip can only show"},
	{"ip addr save", "ip can only show"},
	{"ip addr s", "ip can only show"},
	{"ip route replace default via 10.0.0.1", "ip can only show"},
	{"ip vrf exec x id", "ip shows one of"},
	{"ip xfrm state", "ip shows one of"},
	{"ip monitor", "ip shows one of"},
	{"ip addr show dev eth0 set", "show set is not allowed"},
	{"ip route show dev ../x", "is not allowed"},
	{"ss -K", "ss -K is not allowed"},
	{"ss -tK dst 10.0.0.1", "ss -K is not allowed"},
	{"ss --kill", "ss --kill is not allowed"},
	{"ss -F /etc/shadow", "ss -F is not allowed"},
	{"ss --filter=/etc/shadow", "ss --filter is not allowed"},
	{"ss -D /tmp/x", "ss -D is not allowed"},
	{"ss -N x", "ss -N is not allowed"},
	{"ss -E", "ss -E is not allowed"},
	{"ss -r", "ss -r is not allowed"},
	{"ss dst 10.0.0.1", "ss dst"},
	{"hostname evil", "hostname evil is not allowed"},
	{"hostname -F /etc/passwd", "hostname -F is not allowed"},
	{"hostname -b", "hostname -b is not allowed"},
	{"date -s 2000-01-01", "date -s is not allowed"},
	{"date --set=2000-01-01", "date --set is not allowed"},
	{"date -f /etc/shadow", "date -f is not allowed"},
	{"date -r /etc/shadow", "date -r is not allowed"},
	{"date --file=/etc/shadow", "date --file is not allowed"},
	{"date 010100002000", "date 010100002000 is not allowed"},
	{"uname x", "uname x is not allowed"},
	{"lsblk --sysroot /x", "lsblk --sysroot is not allowed"},
	{"lsblk /dev/sda", "lsblk /dev/sda is not allowed"},
	{"ls -R /", "ls -R is not allowed"},
	{"ls -L x", "ls -L is not allowed"},
	{"ls -H x", "ls -H is not allowed"},
	{"ls --dereference", "ls --dereference is not allowed"},
	{"ls a b c d e f g", "at most 6"},
	{"ls ''", "may not be empty"},
	{"cat", "cat needs a file"},
	{"cat -", "begin with a dash"},
	{"cat -A x", "cat -A is not allowed; usage: cat [-nbs] FILE"},
	{"tail -f x", "tail -f is not allowed"},
	{"tail -F x", "tail -F is not allowed"},
	{"tail --follow x", "tail --follow is not allowed"},
	{"tail --pid=1 x", "tail --pid is not allowed"},
	{"tail -n 1x x", "is not allowed"},
	{"head -n", "needs a value"},
	{"head -n -5 x", `the value "-5" is not allowed`},
	{"wc --files0-from=/etc/shadow", "wc --files0-from is not allowed"},
	{"du --files0-from=x", "du --files0-from is not allowed"},
	{"du -X x", "du -X is not allowed"},
	{"du -L", "du -L is not allowed"},
	{"stat -L x", "stat -L is not allowed"},
	{"whoami x", "whoami x is not allowed"},
}

func TestCheckLineRefuses(t *testing.T) {
	for _, tt := range refused {
		in, err := checkLine(tt.line)
		if err == nil {
			t.Errorf("%q: accepted as %q", tt.line, in.words())
		} else if !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: got %v, want %q", tt.line, err, tt.says)
		}
	}
}

// words is the command as it is run, with paths as they were written.
func (in invocation) words() []string {
	if in.spec == nil {
		return nil
	}
	return append(append([]string{in.name}, in.flags...), in.operands...)
}

func quote(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'"'"'`) + "' ")
	}
	return b.String()
}

// What is accepted means to a shell exactly the words that were checked, is the same
// when it is read again, and holds none of the flags that change, follow or reveal.
func FuzzCheckLine(f *testing.F) {
	for _, tt := range accepted {
		f.Add(tt.line)
	}
	for _, tt := range refused {
		f.Add(tt.line)
	}
	never := map[string][]string{
		"ps": {"e", "-e", "-E", "-u", "-C"}, "ip": {"set", "add", "del", "exec", "netns", "-batch", "-b", "-force", "-n"},
		"ss": {"-K", "-F", "-D", "-E", "-N"}, "date": {"-s", "-f", "-r"}, "tail": {"-f", "-F"}, "ls": {"-R", "-L", "-H"}, "hostname": {"-F", "-b"},
	}
	f.Fuzz(func(t *testing.T, line string) {
		in, err := checkLine(line)
		if err != nil {
			return
		}
		fields, err := shell.Fields(line, func(string) string { return "EXPANDED" })
		if err != nil || fields[0] != in.name {
			t.Fatalf("%q: a shell reads %q, %v", line, fields, err)
		}
		for _, w := range in.operands {
			if !slices.Contains(fields, w) {
				t.Errorf("%q: the operand %q is not in what a shell reads: %q", line, w, fields)
			}
		}
		again, err := checkLine(quote(in.words()))
		if err != nil || !slices.Equal(again.words(), in.words()) {
			t.Errorf("%q: %q becomes %q, %v", line, in.words(), again.words(), err)
		}
		if table[in.name] != in.spec {
			t.Errorf("%q: %s is not in the table", line, in.name)
		}
		for _, w := range append(slices.Clone(in.flags), in.operands...) {
			if slices.Contains(never[in.name], w) && in.paths == noPaths {
				t.Errorf("%q: passes %s", line, w)
			}
		}
		for _, w := range in.flags {
			if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(w, "-") {
				if _, ok := in.spec.flags[name]; !ok && !valueOf(in, w) && in.same["-e"] != w {
					t.Errorf("%q: flag %s is not in the table", line, w)
				}
			}
		}
		if in.name == "ps" && len(in.operands) > 0 && strings.ContainsAny(in.operands[0], "eEcmo") {
			t.Errorf("%q: passes %q", line, in.operands)
		}
	})
}

// valueOf reports whether w is the value of the flag before it.
func valueOf(in invocation, w string) bool {
	for i := 1; i < len(in.flags); i++ {
		if in.flags[i] == w && in.spec.flags[in.flags[i-1]] != nil && in.spec.flags[in.flags[i-1]](w) {
			return true
		}
	}
	return false
}
