package svc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// xcaddy is what xcaddy makes of "xcaddy build --with …" for each stage.
const xcaddy = `package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/svc-gateway/svc/caddymodule/auth"
	_ "github.com/svc-gateway/svc/caddymodule/redact"
	_ "github.com/svc-gateway/svc/caddymodule/scan"
	_ "github.com/svc-gateway/svc/caddymodule/stream"
)

func main() { caddycmd.Main() }
`

func TestExternalMainWithSingleStages(t *testing.T) {
	program := buildExternal(t, xcaddy)
	out, err := exec.Command(program, "list-modules").CombinedOutput()
	if err != nil {
		t.Fatalf("list-modules: %v\n%s", err, out)
	}
	modules := strings.Fields(string(out))
	has := func(id string) bool {
		for _, m := range modules {
			if m == id {
				return true
			}
		}
		return false
	}
	for _, id := range []string{"svc", "http.handlers.svc_auth", "http.handlers.svc_scan", "http.handlers.svc_redact", "http.handlers.svc_stream"} {
		if !has(id) {
			t.Errorf("the module %s is missing", id)
		}
	}
	if has("http.handlers.svc_agents") {
		t.Error("the runtime is linked although nobody asked for it")
	}
	// The users of the stages must be manageable with this program as well.
	if out, err := exec.Command(program, "admin", "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "add-user") {
		t.Errorf("admin --help: got %s, %v", out, err)
	}
}

// buildExternal builds a program in a module of its own that requires this one, as a stranger
// would: with the versions of our go.mod, and without the network.
func buildExternal(t *testing.T, source string) (program string) {
	t.Helper()
	repo, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module "+module, "module example.com/gateway", 1) +
		"\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + repo + "\n"
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "gateway")
	build := exec.Command("go", "build", "-mod=mod", "-buildvcs=false", "-tags=nobadger,nomysql,nopgx", "-ldflags=-s -w", "-o", program, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOPROXY=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return program
}

// The binary is shipped without cgo.
func TestServiceBuildsWithoutCgo(t *testing.T) {
	vet := exec.Command("go", "vet", "-buildvcs=false", "-tags=nobadger,nomysql,nopgx", "./cmd/service")
	vet.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Fatalf("CGO_ENABLED=0 go vet ./cmd/service: %v\n%s", err, out)
	}
}
