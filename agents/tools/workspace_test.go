package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/scanner/command"
)

const secret = "TOP-SECRET-OUTSIDE"

// project makes a folder with a project root, things beside it that nobody may
// reach, and a data folder inside the root.
func project(t *testing.T) (root string, w workspace) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(base, "root")
	for path, text := range map[string]string{
		"outside/secret.txt":        secret,
		"root/README.md":            "# Hello\nsecond\nthird\n",
		"root/sub/a.txt":            "a\n",
		"root/sub/deep/b.txt":       "b\n",
		"root/.svc/token":           secret,
		"root/.svc/databases/audit": secret,
		"root/my files/x y.txt":     "spaces\n",
		"root/empty":                "",
	} {
		path = filepath.Join(base, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"inside":      "sub/a.txt",
		"insidedir":   "sub",
		"up":          "../outside/secret.txt",
		"updir":       "../outside",
		"absolute":    filepath.Join(base, "outside/secret.txt"),
		"sub/twice":   "../up",
		"data":        ".svc",
		"datafile":    ".svc/token",
		"proc":        "/proc/self/root" + filepath.Join(base, "outside/secret.txt"),
		"loop":        "loop",
		"sub/deep/up": "../../updir/secret.txt",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	return root, workspace{root: root, denied: []string{filepath.Join(root, ".svc")}}
}

// commandsIn runs commands where there is no sandbox.
func commandsIn(w workspace) commands { return commands{workspace: w, analyze: command.Analyze} }

func run(t *testing.T, w workspace, line string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := commandsIn(w).run(ctx, agents.ToolContext{}, map[string]any{"command": line})
	return r.Text, err
}

func read(t *testing.T, w workspace, args map[string]any) (agents.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return w.readFile(ctx, agents.ToolContext{}, args)
}

func TestRunInsideTheRoot(t *testing.T) {
	root, w := project(t)
	for line, want := range map[string]string{
		"cat README.md":                   "# Hello\nsecond\nthird\n",
		"cat " + root + "/README.md":      "# Hello\nsecond\nthird\n",
		"cat inside insidedir/deep/b.txt": "a\nb\n",
		"cat 'my files/x y.txt'":          "spaces\n",
		"head -n 1 README.md sub/a.txt":   "==> README.md <==\n# Hello\n\n==> sub/a.txt <==\na\n",
		"tail -1 README.md":               "third\n",
		"wc -l README.md":                 "3 README.md\n",
		"ls sub":                          "a.txt\ndeep\ntwice\n",
		"ls -d sub insidedir":             "sub/\ninsidedir/\n",
		"ls sub 'my files'":               "sub/:\na.txt\ndeep\ntwice\n\nmy files/:\nx y.txt\n",
		"ls README.md sub/a.txt":          "README.md\nsub/a.txt\n",
		"stat -c '%n %F %s' sub/a.txt":    "sub/a.txt regular file 2\n",
		"stat -c '%n %F' sub":             "sub directory\n",
		"stat -c '%n %F' up":              "up symbolic link\n",
		"cat empty":                       "[no output]\n",
	} {
		got, err := run(t, w, line)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", line, got, err, want)
		}
	}
	if got, err := run(t, w, "du -s sub/deep"); err != nil || !strings.HasSuffix(got, "\tsub/deep\n") {
		t.Errorf("du: got %q, %v", got, err)
	}
	if got, err := run(t, w, "ls -la"); err != nil || !strings.Contains(got, "README.md") {
		t.Errorf("ls -la: got %q, %v", got, err)
	}
	if got, err := run(t, w, "cat loop"); err == nil {
		t.Errorf("cat loop: got %q", got)
	}
}

func TestNothingOutside(t *testing.T) {
	root, w := project(t)
	paths := []string{
		"../outside/secret.txt", "sub/../../outside/secret.txt", filepath.Join(root, "../outside/secret.txt"), "/etc/passwd", "/",
		"..", "up", "updir", "updir/secret.txt", "absolute", "sub/twice", "sub/deep/up", "proc", "insidedir/../../outside/secret.txt",
		".svc/token", ".svc", ".svc/databases", "data", "data/token", "datafile", "./.svc/../.svc/token", root + "/.svc/token",
		"fifo", "/proc/self/environ", "/dev/null", "loop", "nosuch", "root\x00x",
	}
	for _, path := range paths {
		for _, command := range []string{"cat", "head -n 1", "tail -c 5", "wc -c", "ls"} {
			if command == "ls" && path == "fifo" {
				continue
			}
			got, err := run(t, w, command+" '"+path+"'")
			if err == nil || strings.Contains(got+err.Error(), secret) {
				t.Errorf("%s %s: got %q, %v", command, path, got, err)
			}
		}
		if got, err := read(t, w, map[string]any{"path": path}); err == nil || strings.Contains(got.Text+err.Error(), secret) {
			t.Errorf("read_file %s: got %q, %v", path, got.Text, err)
		}
	}
	for _, line := range []string{"stat .svc", "stat .svc/token", "stat ../outside", "stat data/token", "stat updir/secret.txt", "du", "du -s .", "du .svc", "du sub/../.", "du ../outside", "du updir/x", "ls -d ../outside"} {
		if got, err := run(t, w, line); err == nil {
			t.Errorf("%s: got %q", line, got)
		}
	}
}

// A link that is changed all the time between a harmless file and a secret never
// shows the secret: what is checked is what is read.
func TestFlippingLink(t *testing.T) {
	root, w := project(t)
	link := filepath.Join(root, "flip")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			to := []string{"README.md", "../outside/secret.txt", ".svc/token", "../outside", "sub"}[i%5]
			_ = os.Symlink(to, link+".new")
			_ = os.Rename(link+".new", link)
		}
	}()
	seen, deadline := 0, time.Now().Add(time.Minute)
	for i := 0; i < 150 || seen == 0 && time.Now().Before(deadline); i++ {
		line := []string{"cat flip", "ls flip", "head -n 1 flip"}[i%3]
		got, err := run(t, w, line)
		if strings.Contains(got, secret) || strings.Contains(got, "secret.txt") {
			t.Fatalf("%s: got %q", line, got)
		}
		if r, _ := read(t, w, map[string]any{"path": "flip"}); strings.Contains(r.Text, secret) {
			t.Fatalf("read_file: got %q", r.Text)
		}
		if err == nil {
			seen++
		}
	}
	close(stop)
	<-stopped
	if seen == 0 {
		t.Error("no call succeeded, the test shows nothing")
	}
}

// With a link a -> b and the data folder at b/sub/.svc, "du -a a/sub" listed the data folder:
// the name a/sub does not lie above it, the folder that it leads to does.
func TestDataFolderThroughALink(t *testing.T) {
	root, w := project(t)
	if err := os.MkdirAll(filepath.Join(root, "b/sub/.svc/databases"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "b/sub/.svc/databases/audit.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b", filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	w.denied = []string{filepath.Join(root, "b/sub/.svc")}
	for _, line := range []string{"du -a a/sub", "du -a a/sub/", "du -a a/sub/.svc", "du -a a/sub/.svc/databases", "du -a b", "du -a .", "du -a", "ls a/sub/.svc", "ls -d a/sub/.svc/databases", "stat a/sub/.svc/databases"} {
		if got, err := run(t, w, line); err == nil || !strings.Contains(err.Error(), "the service's own data folder") {
			t.Errorf("%s: got %q, %v", line, got, err)
		}
	}
	if got, err := run(t, w, "du -a a"); err != nil || strings.Contains(got, "audit.db") { // the link itself
		t.Errorf("du -a a: got %q, %v", got, err)
	}
}

// A hard link in the project to a file of the data folder was read like any file: its path
// is in the project. The data folder may lie in the project, around it or elsewhere.
func TestHardLinkToTheDataFolder(t *testing.T) {
	root, w := project(t)
	for name, to := range map[string]string{"linked": ".svc/token", "sub/deep/linked": ".svc/databases/audit", "own": "README.md", "around": "../outside/secret.txt"} {
		if err := os.Link(filepath.Join(root, to), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(w workspace, path string, open bool) {
		t.Helper()
		for _, command := range []string{"cat", "head -n 1", "tail -c 3", "wc -c"} {
			if got, err := run(t, w, command+" "+path); open != (err == nil) || strings.Contains(got, secret) {
				t.Errorf("%s %s: got %q, %v", command, path, got, err)
			}
		}
		if got, err := read(t, w, map[string]any{"path": path}); open != (err == nil) || strings.Contains(got.Text, secret) {
			t.Errorf("read_file %s: got %q, %v", path, got.Text, err)
		}
	}
	check(w, "linked", false)
	check(w, "sub/deep/linked", false)
	check(w, "own", true)
	base := filepath.Dir(root)
	check(workspace{root: root, denied: []string{base}}, "around", false)
	check(workspace{root: root, denied: []string{filepath.Join(base, "outside")}}, "around", false)
	check(workspace{root: root, denied: []string{base}}, "own", true)
	check(workspace{root: root, denied: []string{filepath.Join(base, "none")}}, "own", true)
}

// Descriptors have names in the arguments of a command, and only what it prints of them is
// replaced: the same words in a file stay as they are.
func TestContentsKeepDescriptorNames(t *testing.T) {
	root, w := project(t)
	text := "/proc/self/fd/3 and /proc/self/fd/3/x\n"
	if err := os.WriteFile(filepath.Join(root, "names"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cat names", "head -n 1 names", "tail -n 1 names"} {
		if got, err := run(t, w, line); err != nil || got != text {
			t.Errorf("%s: got %q, %v; want %q", line, got, err, text)
		}
	}
	if got, err := run(t, w, "wc -c names"); err != nil || !strings.HasSuffix(got, " names\n") {
		t.Errorf("wc: got %q, %v", got, err)
	}
}

func TestRoots(t *testing.T) {
	root, _ := project(t)
	for _, tt := range []struct {
		w    workspace
		says string
	}{
		{workspace{}, "no project root"},
		{workspace{root: "/"}, "refused"},
		{workspace{root: root + "/none"}, "opening the project root"},
		{workspace{root: root, denied: []string{root}}, "data folder"},
	} {
		if got, err := read(t, tt.w, map[string]any{"path": "README.md"}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: got %q, %v; want %q", tt.w, got.Text, err, tt.says)
		}
	}
	// A root inside the data folder is the default: the rest is outside the root.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, w := range []workspace{{root: root, denied: []string{filepath.Dir(root)}}, {root: link}} {
		for _, path := range []string{"README.md", w.root + "/README.md", root + "/README.md"} {
			if _, err := read(t, w, map[string]any{"path": path}); err != nil {
				t.Errorf("%+v %s: %v", w, path, err)
			}
		}
	}
	if got, err := read(t, workspace{root: link, denied: []string{link + "/.svc"}}, map[string]any{"path": ".svc/token"}); err == nil {
		t.Errorf("through a linked root: got %q", got.Text)
	}
}

func TestReadFile(t *testing.T) {
	root, w := project(t)
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "line %d\n", i+1)
	}
	write("many.txt", []byte(many.String()))
	write("long.txt", []byte(strings.Repeat("ä", 100_000)+"\nnext\n"))
	write("binary", append([]byte("\x7fELF\x00"), make([]byte, 1000)...))
	write("latin", []byte("Gr\xfc\xdfe aus M\xfcnchen, alles andere hier ist ja ASCII und das ist gut so\x1b[2J\n"))
	write("noeol", []byte("x"))
	tests := []struct {
		args      map[string]any
		want      string // whole text, or its parts around …
		truncated bool
		err       string
	}{
		{map[string]any{"path": "README.md"}, "# Hello\nsecond\nthird\n", false, ""},
		{map[string]any{"path": "README.md", "offset": 2.0, "limit": 1.0}, "second\n[more follows: go on with offset 3; the file has 21 bytes]\n", true, ""},
		{map[string]any{"path": "README.md", "offset": 3.0}, "third\n", false, ""},
		{map[string]any{"path": "README.md", "offset": 4.0}, "", false, "fewer than 4 lines"},
		{map[string]any{"path": "noeol"}, "x", false, ""},
		{map[string]any{"path": "empty"}, "[empty is empty]\n", false, ""},
		{map[string]any{"path": "many.txt"}, "line 1\n…line 2000\n[more follows: go on with offset 2001; the file has 48893 bytes]\n", true, ""},
		{map[string]any{"path": "many.txt", "offset": 4999.0}, "line 4999\nline 5000\n", false, ""},
		{map[string]any{"path": "long.txt"}, "ää…ä\n[cut: line 1 is longer than 65536 bytes]\n", true, ""},
		{map[string]any{"path": "long.txt", "offset": 2.0}, "next\n", false, ""},
		{map[string]any{"path": "binary"}, "binary is a binary file of 1005 bytes (application/octet-stream); its contents are not shown.\n", true, ""},
		{map[string]any{"path": "latin"}, "Gr\uFFFDe aus M\uFFFDnchen, …\uFFFD[2J\n", false, ""},
		{map[string]any{"path": "sub"}, "", false, "is a folder"},
		{map[string]any{"path": "nosuch"}, "", false, "nosuch does not exist in the project root"},
		{map[string]any{}, "", false, `"path" is missing`},
		{nil, "", false, `"path" is missing`},
		{map[string]any{"path": 7.0}, "", false, `"path" must be a string`},
		{map[string]any{"path": " "}, "", false, `"path" is empty`},
		{map[string]any{"path": "x", "offset": 0.0}, "", false, `"offset" must be a whole number from 1`},
		{map[string]any{"path": "x", "limit": "5"}, "", false, `"limit" must be a whole number from 1 to 2000`},
		{map[string]any{"path": "x", "limit": 1.5}, "", false, `"limit" must be a whole number`},
		{map[string]any{"path": "x", "file": "y"}, "", false, `unknown argument "file"`},
	}
	for _, tt := range tests {
		got, err := read(t, w, tt.args)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v: got %q, %v; want %q", tt.args, got.Text, err, tt.err)
			}
			continue
		}
		begin, end, _ := strings.Cut(tt.want, "…")
		if err != nil || !strings.HasPrefix(got.Text, begin) || !strings.HasSuffix(got.Text, end) || !strings.Contains(tt.want, "…") && got.Text != tt.want || got.Truncated != tt.truncated {
			t.Errorf("%v: got %.200q … (%d bytes, truncated %v), %v; want %q", tt.args, got.Text, len(got.Text), got.Truncated, err, tt.want)
		}
	}
}

func TestRunCommandArguments(t *testing.T) {
	_, w := project(t)
	for _, args := range []map[string]any{nil, {}, {"command": 1.0}, {"command": []any{"df"}}, {"command": ""}, {"command": "df", "shell": true}} {
		if got, err := commandsIn(w).run(t.Context(), agents.ToolContext{}, args); err == nil {
			t.Errorf("%v: got %q", args, got.Text)
		}
	}
}

// Every command of the table works on this host, so that no flag check lets a whole
// command fail.
func TestEveryCommand(t *testing.T) {
	_, w := project(t)
	for _, line := range []string{"df -h", "free -m", "ps -eo pid,user,pcpu,pmem,comm --sort=-pcpu", "ps aux", "ps -ef", "uptime", "ip -br addr", "ip route show", "ss -tuln", "ss -t state listening", "uname -a", "hostname", "date +%Y", "whoami", "id", "nproc", "lsblk", "ls -la", "cat README.md", "head -1 README.md", "tail -n 1 README.md", "wc README.md", "stat README.md", "du -sh sub"} {
		name, _, _ := strings.Cut(line, " ")
		if _, err := lookUp(name); err != nil {
			t.Logf("%v", err)
			continue
		}
		got, err := run(t, w, line)
		if err != nil || got == "" || strings.Contains(got, "[exit code") && name != "lsblk" {
			t.Errorf("%s: got %q, %v", line, got, err)
		}
	}
}
