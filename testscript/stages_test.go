//go:build linux

package testscript

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A Caddy that has our stages and not the runtime does what the recipes say, with the same commands.
func TestStagesAlone(t *testing.T) {
	recipes, err := filepath.Glob("testdata/recipe-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("testdata/stages/*.txtar")
	if err != nil || len(recipes) < 6 || len(own) < 1 {
		t.Fatalf("got %d recipes and %d scripts of their own, %v", len(recipes), len(own), err)
	}
	bin := buildStages(t)
	t.Run("commands of recipes", func(t *testing.T) { testCommandsOfRecipes(t, filepath.Join(bin, "service")) })
	run(t, testscript.Params{
		Files: append(recipes, own...),
		Setup: func(e *testscript.Env) error { return setupStages(e, bin) },
	})
}

// buildStages builds the main package that README.md shows, and returns a folder that holds it. It
// is called service there, so that the scripts are those of the service.
func buildStages(t *testing.T) (bin string) {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, source, found := strings.Cut(string(readme), "\n```go\n")
	source, _, ended := strings.Cut(source, "\n```")
	if !found || !ended {
		t.Fatal("README.md has no block ```go")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bin = t.TempDir()
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags=nobadger,nomysql,nopgx",
		"-ldflags=-s -w -X github.com/caddyserver/caddy/v2.CustomBinaryName=service", "-o", filepath.Join(bin, "service"), file)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building a Caddy with the stages: %v\n%s", err, out)
	}
	return bin
}

// setupStages is setup for such a program. Each script has an admin API of its own: by default all
// would share one port.
func setupStages(e *testscript.Env, bin string) error {
	if err := setup(e, bin, ""); err != nil {
		return err
	}
	e.Values[sessionKey{}].(*session).stages = true
	e.Setenv("CADDY_ADMIN", "unix/"+e.Getenv("HOME")+"/admin.sock")
	return nil
}

// serve starts the service with a Caddyfile.
func serve(c *call) error {
	if len(c.args) != 1 {
		return errors.New("usage: serve FILE")
	}
	if !c.stages {
		return c.ts.Exec("service", "web", "start", "--config", c.args[0])
	}
	const script = `mkdir -p "$HOME/.svc" && service run --config "$1" --adapter caddyfile </dev/null >>"$HOME/.svc/service.log" 2>&1 &`
	if err := c.ts.Exec("sh", "-c", script, "sh", c.args[0]); err != nil {
		return err
	}
	return poll(func() (bool, error) {
		for network, address := range map[string]string{"tcp": "127.0.0.1:" + c.port, "unix": c.home + "/.svc/run/control.sock"} {
			conn, err := net.Dial(network, address)
			if err != nil {
				said, _ := os.ReadFile(c.home + "/.svc/service.log")
				return false, fmt.Errorf("%w: the log is\n%s", err, said)
			}
			_ = conn.Close()
		}
		return true, nil
	})
}

var shown = regexp.MustCompile("(?:^|`)service ([a-z]+)(?: ([a-z-]+))?")

// testCommandsOfRecipes looks whether the program has each command that a recipe shows.
func testCommandsOfRecipes(t *testing.T, program string) {
	pages, err := filepath.Glob("../docs/recipes/[a-z]*.md") // README.md tells how it is with either program
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, m := range shown.FindAllStringSubmatch(line, -1) {
				words := slices.DeleteFunc(m[1:], func(w string) bool { return w == "" })
				seen[strings.Join(words, " ")] = true
			}
		}
	}
	if len(seen) < 8 {
		t.Errorf("got only the commands %v", seen)
	}
	for words := range seen {
		out, err := exec.Command(program, append(strings.Fields(words), "--help")...).CombinedOutput()
		if want := "service " + words; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("service %s --help: got %v and\n%s\nwant a usage with %q", words, err, out, want)
		}
	}
}
