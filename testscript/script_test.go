//go:build linux

package testscript

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

const (
	patience = 30 * time.Second // how long a command waits for what should come
	interval = 20 * time.Millisecond
)

func TestScripts(t *testing.T) {
	bin, helper := build(t), buildHelper(t)
	run(t, testscript.Params{
		Dir:   "testdata",
		Setup: func(e *testscript.Env) error { return setup(e, bin, helper) },
	})
}

// run runs scripts with our commands and conditions.
func run(t *testing.T, params testscript.Params) {
	t.Helper()
	params.RequireUniqueNames = true
	params.Condition = condition
	params.Cmds = map[string]func(*testscript.TestScript, bool, []string){}
	for name, cmd := range commands {
		params.Cmds[name] = adapt(name, cmd)
	}
	testscript.Run(t, params)
}

// build returns a folder that holds the binary as service.
func build(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	program := filepath.Join(bin, "service")
	if given := os.Getenv("SVC_BINARY"); given != "" {
		// go test runs in this folder, the variable was given in the repository's.
		if !filepath.IsAbs(given) {
			given = filepath.Join("..", given)
		}
		abs, err := filepath.Abs(given)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(abs); err != nil {
			t.Fatalf("SVC_BINARY: %v", err)
		}
		if err := os.Symlink(abs, program); err != nil {
			t.Fatal(err)
		}
		return bin
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags=nobadger,nomysql,nopgx", "-ldflags=-s -w", "-o", program, "../cmd/service")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the service: %v\n%s", err, out)
	}
	return bin
}

// buildHelper returns the path of the helper that makes sandboxes. Scripts that want one set
// sandbox.helper to it: the others start without.
func buildHelper(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "svc-sandbox")
	if err := sandboxtest.Build(path, ""); err != nil {
		t.Fatal(err)
	}
	return path
}

// call is one line of a script: what a command is given and what it says.
type call struct {
	*session
	ts       *testscript.TestScript
	args     []string
	out, err bytes.Buffer
}

// command is what a script can call beside programs. An error fails the script unless the line
// begins with "!".
type command func(c *call) error

var commands map[string]command

func init() { // not at the declaration: until looks commands up
	commands = map[string]command{
		"adduser": adduser, "as": as, "capture": capture, "later": later, "until": until, "mode": mode, "repeat": repeat,
		"port": port, "recipe": recipe, "example": example, "serve": serve, "certificate": certificate,
		"http": plainHTTP, "flood": flood, "raw": raw, "waithealth": waitHealth,
		"ask": ask, "sse": sse, "stream": openStreams, "await": await, "finish": finish, "leave": leave,
		"upstream": startUpstream, "website": website, "model": startModel, "release": release,
		"duck": duck, "redis": redis, "gateway": gateway, "lender": lender, "device": device,
		"slapd": slapd, "issuer": issuer, "jwt": mintJWT,
		"kill9": kill9, "sigterm": sigterm, "gone": gone, "tmpfs": tmpfs,
	}
}

func adapt(name string, cmd command) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		s, ok := ts.Value(sessionKey{}).(*session)
		if !ok {
			ts.Fatalf("the script has no session")
		}
		c := &call{session: s, ts: ts, args: args}
		err := cmd(c)
		fmt.Fprint(ts.Stdout(), c.out.String())
		fmt.Fprint(ts.Stderr(), c.err.String())
		switch {
		case err != nil && !neg:
			ts.Fatalf("%s: %v", name, err)
		case err == nil && neg:
			ts.Fatalf("%s: unexpected success", name)
		case err != nil:
			ts.Logf("[%v]", err)
		}
	}
}

// poll repeats f until it reports success.
func poll(f func() (bool, error)) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		done, err := f()
		if done {
			return nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			if err != nil {
				return fmt.Errorf("not within %s: %w", patience, err)
			}
			return fmt.Errorf("not within %s", patience)
		}
	}
}
