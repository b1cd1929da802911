package tools

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
	"github.com/svc-gateway/svc/scanner/command"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// openBox opens a sandbox, or skips the test where the host allows none.
func openBox(t *testing.T, c sandbox.Config) *sandbox.Box {
	t.Helper()
	own := sandboxtest.Config(t, "svc-sandbox")
	c.Helper, c.Dir = own.Helper, own.Dir
	return sandboxtest.Open(t, c, "")
}

// scene is a project root that everybody may write to, with the data folder in it, and a folder beside
// it that everybody may write to as well.
func scene(t *testing.T) (root, outside string) {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "svc") // /tmp is the sandbox's own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	root, outside = filepath.Join(base, "root"), filepath.Join(base, "outside")
	for _, dir := range []string{base, root, outside, filepath.Join(root, ".svc"), filepath.Join(root, "sub")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(root, "file"): "inside\n", filepath.Join(root, ".svc/token"): secret, filepath.Join(outside, "file"): "outside\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside/file", filepath.Join(root, "up")); err != nil {
		t.Fatal(err)
	}
	return root, outside
}

// A command line that the analysis gets wrong can do no more than its class allows: the attack is any
// line whose effect the analysis does not see.
func TestMisclassifiedCommandsRegression(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		for _, mode := range sandboxtest.Modes() {
			t.Run(mode, func(t *testing.T) { misclassified(t, mode) })
		}
	})
}

func misclassified(t *testing.T, mode string) {
	root, outside := scene(t)
	data := filepath.Join(root, ".svc")
	conf := sandboxtest.Config(t, "svc-sandbox")
	conf.Hidden, conf.Network = []string{data}, sandbox.ProxyNetwork
	box := sandboxtest.Open(t, conf, mode)
	arrived := listen(t)
	w := workspace{root: root, denied: []string{data}}
	connect := fmt.Sprintf(`exec 3<>/dev/tcp/%s && echo CONNECTED; curl -s --max-time 2 http://%[2]s && echo CONNECTED; true`,
		strings.Replace(arrived.addr, ":", "/", 1), arrived.addr)
	// Where there are no mounts, rights alone keep a program from files.
	readOnly, away, made := "Read-only", "No such file", "x\n"
	if mode == "minimal" {
		readOnly, away, made = "Permission denied", "Permission denied", "Permission denied"
	}
	leave := `(setsid sleep 98765.4 >/dev/null 2>&1 </dev/null & ); nohup sleep 98765.4 >/dev/null 2>&1 & echo STARTED`
	for _, tc := range []struct {
		class      command.Class
		name, line string
		want       string // in the result
		not        string
	}{
		{command.ReadOnly, "reads the project", "cat file | sort", "inside", ""},
		{command.ReadOnly, "reads the host", "cat " + outside + "/file | sort", "outside", ""},
		{command.ReadOnly, "writes in the project", "echo x >made; echo x >file; rm -f file; true", readOnly, ""},
		{command.ReadOnly, "writes elsewhere", "echo x >" + outside + "/made; rm -f " + outside + "/file; true", readOnly, ""},
		{command.ReadOnly, "reads the data folder", "cat .svc/token; true", "", secret},
		{command.ReadOnly, "connects", connect, "", "CONNECTED"},
		{command.ReadOnly, "leaves a process", leave, "STARTED", ""},
		{command.ReadOnly, "sees processes", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; true", "", ".test "},
		{command.Mutate, "writes in a folder of the project", "echo x >sub/written; mkdir sub/sub; mv sub/written sub/sub; cat sub/sub/written", "x\n", ""},
		{command.Mutate, "writes to a file of the project", "echo again >>file; cat file", "again\n", ""},
		{command.Mutate, "writes beside the data folder", "echo x >written; cat written", made, ""},
		{command.Mutate, "writes elsewhere", "echo x >" + outside + "/made; rm -f " + outside + "/file; true", away, ""},
		{command.Mutate, "writes over a link", "echo x >up; true", away, ""},
		{command.Mutate, "writes in the data folder", "echo x >.svc/made; echo x >.svc/token; true", "", secret},
		{command.Mutate, "reads the data folder", "cat .svc/token; mv .svc moved; cat moved/token; true", "", secret},
		{command.Mutate, "connects", connect, "", "CONNECTED"},
		{command.Mutate, "leaves a process", leave, "STARTED", ""},
		{command.Mutate, "signals", fmt.Sprintf("kill -0 %d && echo REACHED; true", os.Getpid()), "", "REACHED"},
	} {
		t.Run(string(tc.class)+" "+tc.name, func(t *testing.T) {
			c := commands{w, box, func(string) command.Command { return command.Command{Class: tc.class, Confined: true} }}
			r, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"command": tc.line})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.Text, tc.want) || tc.not != "" && strings.Contains(r.Text, tc.not) {
				t.Errorf("got %q, want %q", r.Text, tc.want)
			}
		})
	}
	for path, want := range map[string]string{
		root + "/file": "inside\nagain\n", root + "/.svc/token": secret, root + "/sub/sub/written": "x\n", outside + "/file": "outside\n",
		root + "/made": "", root + "/.svc/made": "", outside + "/made": "",
	} {
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	if arrived.any() {
		t.Error("a connection arrived")
	}
	if left := processes(t, "98765.4"); left != 0 {
		t.Errorf("%d processes are left", left)
	}
}

// What needs the host is not run in the sandbox, nor anywhere without approval.
func TestNothingRunsUnapproved(t *testing.T) {
	root, outside := scene(t)
	c := commands{workspace{root: root}, openBox(t, sandbox.Config{}), command.Analyze}
	for _, line := range []string{
		"touch " + outside + "/made", "touch " + root + "/made; reboot --no-such-option", "python3 -c 'open(\"made\", \"w\")'",
		"touch made; ip link set no-such-interface up", "ip link set no-such-interface mtu 1400; touch made", "cp " + outside + "/file made",
		"touch made; systemctl start no-such-unit", "make made",
	} {
		if r, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"command": line}); err == nil || !strings.Contains(err.Error(), "approve") {
			t.Errorf("%s: got %q, %v", line, r.Text, err)
		}
	}
	for _, path := range []string{outside + "/made", root + "/made"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}

func TestSandboxedResults(t *testing.T) {
	sandboxtest.EveryMode(t, nil, sandboxedResults)
}

func sandboxedResults(t *testing.T, box *sandbox.Box) {
	root, _ := scene(t)
	c := commands{workspace{root: root}, box, command.Analyze}
	if box.Mode() != "minimal" { // where programs may not change times
		if r, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"command": "touch touched"}); err != nil || r.Text != "[no output]\n" {
			t.Errorf("touch: got %q, %v", r.Text, err)
		}
	}
	for _, tc := range []struct{ line, want string }{
		{"grep -c inside file", "1\n"},
		{"grep nothing file", "[exit code 1]\n"},
		{"true > new", "[no output]\n"},
		{"ls missing | sort; ls new", "ls: cannot access 'missing': No such file or directory\nnew\n"},
		{"seq 100000 | sort -n", "[cut: the first 65536 bytes are shown]\n"},
	} {
		r, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"command": tc.line})
		if err != nil || !strings.HasSuffix(r.Text, tc.want) {
			t.Errorf("%s: got %q, %v, want %q", tc.line, r.Text, err, tc.want)
		}
	}
	c.root, c.denied = root, []string{root}
	if _, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"command": "touch x"}); err == nil || !strings.Contains(err.Error(), "is the service's data folder") {
		t.Errorf("the data folder as the root: got %v", err)
	}
}

// arrival is a server that notes whether somebody came.
type arrival struct {
	addr string
	came chan struct{}
}

func (a arrival) any() bool { return len(a.came) > 0 }

func listen(t *testing.T) arrival {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	a := arrival{l.Addr().String(), make(chan struct{}, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			a.came <- struct{}{}
			_ = c.Close()
		}
	}()
	return a
}

// processes is how many have a word in their command line.
func processes(t *testing.T, word string) (n int) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), word) {
			n++
		}
	}
	return n
}
