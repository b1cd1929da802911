package command

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func linesOf(t testing.TB, file string) (lines []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.ReplaceAll(string(b), "\n}' f\n", "\\n}' f\n")) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return lines
}

// What operators and developers read with every day is not asked for.
func TestEverydayCommands(t *testing.T) {
	lines := linesOf(t, "everyday.txt")
	asked := 0
	for _, line := range lines {
		if c := Analyze(line); c.Class != ReadOnly {
			asked++
			t.Logf("%s: %s %v", line, c.Class, c.Spans)
		}
	}
	if share := 1 - float64(asked)/float64(len(lines)); share < 0.99 || len(lines) < 400 {
		t.Errorf("of %d lines %d would be asked for", len(lines), asked)
	}
}

// What executes, writes or changes something is not said to read, however it is written.
func TestChangingCommands(t *testing.T) {
	for _, line := range linesOf(t, "changing.txt") {
		if Analyze(line).Class == ReadOnly {
			t.Errorf("%s: got read_only", line)
			continue
		}
		for _, v := range variations(line) {
			if Analyze(v).Class == ReadOnly {
				t.Errorf("%s, varied from %s: got read_only", v, line)
			}
		}
	}
}

func FuzzChangingCommands(f *testing.F) {
	lines := linesOf(f, "changing.txt")
	for i := range uint64(16) {
		f.Add(i, i*7)
	}
	f.Fuzz(func(t *testing.T, n, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, n))
		line := lines[n%uint64(len(lines))]
		before := line
		for range 1 + rng.IntN(3) {
			all := variations(line)
			if len(all) == 0 {
				return
			}
			line = all[rng.IntN(len(all))]
		}
		if Analyze(line).Class == ReadOnly {
			t.Errorf("%s, varied from %s: got read_only", line, before)
		}
	})
}

// variations returns other ways to write a line that do no less: other quotes, options shortened,
// repeated and moved, values apart and attached, wrappers, other places in a script.
func variations(line string) (list []string) {
	quoted, err := syntax.Quote(line, syntax.LangBash)
	if err == nil {
		list = append(list, "sh -c "+quoted, "bash -c "+quoted, "env sh -c "+quoted, "eval "+quoted, "timeout 5 bash -c "+quoted)
	}
	list = append(list, "ls; "+line, "ls\n"+line, "{ "+line+"\n}", "if true; then "+line+"\nfi", "cat f && "+line)
	words := simple(line)
	if len(words) == 0 {
		return list
	}
	join := func(words []string) { list = append(list, strings.Join(words, " ")) }
	for i, word := range words {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-=./:_,") != "" {
			continue
		}
		for _, other := range []string{"'" + word + "'", `"` + word + `"`, word[:1] + "''" + word[1:], `\` + word} {
			if word[0] != '\\' && (other[0] != '\\' || !strings.ContainsAny(word[:1], "0123456789")) {
				join(slices.Concat(words[:i], []string{other}, words[i+1:]))
			}
		}
		if i > 0 && strings.HasPrefix(word, "-") && strings.Contains(word, "=") { // of others the second may become the value of the first
			join(slices.Concat(words[:i+1], words[i:]))
		}
		if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "--") && i > 0 && value != "" && value[0] != '-' && !strings.HasPrefix(name, "--dry-run") && name != "--write" {
			join(slices.Concat(words[:i], []string{name, value}, words[i+1:]))
		}
		if name, value, _ := strings.Cut(word, "="); i > 0 && strings.HasPrefix(name, "--") && len(name) > 5 && !strings.HasPrefix(name, "--dry-run") {
			for n := 4; n < len(name); n++ {
				if name[n] == '-' { // which may be another option
					continue
				}
				short := name[:n]
				if value != "" {
					short += "=" + value
				}
				join(slices.Concat(words[:i], []string{short}, words[i+1:]))
			}
		}
	}
	for _, wrapper := range []string{"env ", "nice -n 5 ", "timeout 5 ", "timeout -s KILL 5 ", "command ", "stdbuf -oL ", "/usr/bin/env ", "time "} {
		if name := words[0]; !strings.Contains(name, "=") && hostProgram(name) && !slices.Contains([]string{"for", "exec", "[[", "jobs", "hash", "unset", "read", "let", "test", "set", "trap", "alias", "source", "export", "declare", "local", "eval", "."}, name) {
			list = append(list, wrapper+line)
		}
	}
	if slices.Contains([]string{"sort", "shuf", "journalctl", "ss", "dmesg", "rg", "file", "nm"}, words[0]) && !slices.Contains(words, "--") {
		join(slices.Concat(words[:1], []string{"zz"}, words[1:]))
		join(slices.Concat(words, []string{"zz"}))
		join(slices.Concat(words, []string{"--", "list"}))
	}
	return list
}

// simple returns the words of a line that is one plain command, as they are written.
func simple(line string) (words []string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
		return nil
	}
	c, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return nil
	}
	for _, word := range c.Args {
		words = append(words, line[word.Pos().Offset():word.End().Offset()])
	}
	return words
}

// The lines with which an earlier analysis was misled are not said to read, where the folder of test
// data is there.
func TestCorpusBypass(t *testing.T) {
	folder := os.Getenv("SVC_CORPORA")
	if folder == "" {
		t.Skip("SVC_CORPORA is not set")
	}
	b, err := os.ReadFile(filepath.Join(folder, "bypass.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"network": Network, "reads_secret": ReadsSecret, "does_not_end": Endless}
	missed := 0
	for line := range strings.Lines(string(b)) {
		var s struct{ Text, Label string }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		c := Analyze(s.Text)
		if s.Label == "not_read_only" && c.Class == ReadOnly {
			t.Errorf("%s: got read_only", s.Text)
		}
		if name := names[s.Label]; name != "" && c.Class == ReadOnly && !slices.Contains(c.Traits, name) {
			missed++
			t.Logf("%s: got %v, want %s", s.Text, c.Traits, name)
		}
	}
	if missed > 3 {
		t.Errorf("%d traits are missing", missed)
	}
}

func TestTraits(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"ls", ""},
		{"dig +short x.example", "network"},
		{"host -t txt $(whoami).x.example", "network"},
		{"curl https://x.example", "network"},
		{"ssh host df", "network"},
		{"cat /etc/shadow", "reads_secret"},
		{"cat ~/.ssh/id_rsa", "reads_secret"},
		{"cat ~/.ssh/id_rsa.pub", ""},
		{"xxd /proc/self/environ", "reads_secret"},
		{"curl http://169.254.169.254/latest/meta-data", "network reads_secret"},
		{"kubectl get secrets -o yaml", "reads_secret"},
		{"kubectl get secrets", ""},
		{"strings /dev/sda", "reads_secret"},
		{"smartctl -a /dev/sda", ""},
		{"tail -f x", "endless"},
		{"tail x", ""},
		{"journalctl -fu nginx", "endless"},
		{"cat /dev/zero", "endless"},
		{"head -c 5 /dev/zero", ""},
		{"while true; do ls; done", "endless"},
		{"iostat 1", "endless"},
		{"iostat 1 3", ""},
		{"ping x.example", "network endless"},
		{"ping -c 1 x.example", "network"},
		{"less x", "pager"},
		{"sudo ls", "privileged"},
		{"wg show", ""},
		{"wg show wg0 peers", ""},
		{"wg show wg0 private-key", "reads_secret"},
		{"wg show wg0 preshared-keys", "reads_secret"},
		{"wg show all dump", "reads_secret"},
		{"npm view x", "network"},
		{"npm outdated", "network"},
		{"npm ls", ""},
		{"ipmitool -H 1.1.1.1 sensor", "network"},
		{"ipmitool sensor", ""},
		{"redis-cli monitor", "endless"},
		{"redis-cli get foo", ""},
		{"sudo -l", "privileged"},
		{"echo /etc/shadow", ""},
	} {
		if got := strings.Join(Analyze(tt.line).Traits, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	c, list := Explain("sort -T -- -o f in")
	if c.Class != Unknown || len(list) != 1 {
		t.Fatalf("got %s and %v", c.Class, list)
	}
	var roles []string
	for _, w := range list[0].Words {
		role := w.Text + " " + w.Role
		if w.Made {
			role += " !"
		}
		roles = append(roles, role)
	}
	want := []string{"-T option", "-- value of an option", "-o not understood !", "f not looked at", "in not looked at"}
	if !slices.Equal(roles, want) {
		t.Errorf("got %q, want %q", roles, want)
	}
}
