package app_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
)

// free expects a data folder that nobody works on, with nothing left in it of a process.
func free(t *testing.T, h settings.Home) {
	t.Helper()
	if busy, err := app.Busy(h); busy || err != nil {
		t.Errorf("got busy %v, %v, want a free data folder", busy, err)
	}
	if _, err := os.Stat(h.PIDFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pid file is there: %v", err)
	}
	if _, err := cli.NewClient(h).Status(context.Background()); !errors.Is(err, cli.ErrNotRunning) {
		t.Errorf("got %v, want ErrNotRunning", err)
	}
}

func TestFailureOnStart(t *testing.T) {
	h := home(t)
	const failing = `"probe": {"answer": "bad", "on_start": true}`
	if err := load(t, failing); err == nil || !strings.Contains(err.Error(), "asked to fail on start") {
		t.Fatalf("got %v, want the error of the start", err)
	}
	free(t, h)

	if err := load(t, `"probe": {"answer": "good"}`); err != nil {
		t.Fatal(err)
	}
	if err := load(t, failing); err == nil {
		t.Fatal("a reload that fails on start was loaded")
	}
	if got, err := ask(t, h, "/probe"); !strings.HasPrefix(got, "good to ") {
		t.Errorf("after the failed reload: got %q, %v, want the answer of the configuration before", got, err)
	}
	if busy, err := app.Busy(h); !busy || err != nil {
		t.Errorf("after the failed reload: got busy %v, %v, want the data folder in use", busy, err)
	}
	if err := probed.Audit().Record(context.Background(), audit.Event{Type: audit.Admin}); err != nil {
		t.Errorf("after the failed reload: %v", err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	free(t, h)
}

// TestFailureToListen has something in the place of the control socket that cannot be removed.
func TestFailureToListen(t *testing.T) {
	h := home(t)
	inTheWay := filepath.Join(h.ControlSocket(), "file")
	if err := os.MkdirAll(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := load(t, `"svc": {}`); err == nil || !strings.Contains(err.Error(), "removing the old control socket") {
		t.Fatalf("got %v, want the error of the socket", err)
	}
	free(t, h)
	if err := os.RemoveAll(h.ControlSocket()); err != nil {
		t.Fatal(err)
	}
	if err := load(t, `"svc": {}`); err != nil {
		t.Errorf("with nothing in the way: %v", err)
	}
}

func TestClaim(t *testing.T) {
	h := home(t)
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	release, err := app.Claim(h, settings.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if busy, err := app.Busy(h); !busy || err != nil {
		t.Errorf("got busy %v, %v, want the data folder in use", busy, err)
	}
	if _, err := cli.NewClient(h).Status(context.Background()); !errors.Is(err, cli.ErrNotRunning) || !problem.HasCode(err, cli.NotReady) {
		t.Errorf("got %v, want that it is not ready", err)
	}
	if err := load(t, `"probe": {"answer": "ready"}`); err != nil {
		t.Fatal(err)
	}
	release()
	release()
	if got, err := ask(t, h, "/probe"); !strings.HasPrefix(got, "ready to ") {
		t.Errorf("got %q, %v, want the configuration's answer", got, err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	free(t, h)

	unlock := app.LockForTest(t, h)
	if _, err := app.Claim(h, settings.Settings{}); !errors.Is(err, app.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	unlock()
	free(t, h)
}

func TestWhileFree(t *testing.T) {
	h := home(t)
	var calls []bool
	look := func() error {
		busy, err := app.Busy(h)
		calls = append(calls, busy)
		return err
	}
	if busy, err := app.WhileFree(h, look); busy || err != nil || len(calls) > 0 {
		t.Errorf("a folder that is not there: got busy %v, %v, calls %v", busy, err, calls)
	}
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	unlock := app.LockForTest(t, h)
	if busy, err := app.WhileFree(h, look); !busy || err != nil || len(calls) > 0 {
		t.Errorf("a folder in use: got busy %v, %v, calls %v", busy, err, calls)
	}
	unlock()
	if busy, err := app.WhileFree(h, look); busy || err != nil || len(calls) != 1 || !calls[0] {
		t.Errorf("a free folder: got busy %v, %v, calls %v, want one, during which nobody else may begin", busy, err, calls)
	}
}

// TestControlRequestsAreRecorded asks a whole app over its socket.
func TestControlRequestsAreRecorded(t *testing.T) {
	h := home(t)
	if err := load(t, `"probe": {"answer": "a"}`); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/status", "/settings", "/identity/users", "/probe"} {
		if _, err := ask(t, h, path); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if _, err := ask(t, h, "/no/such"); err == nil {
		t.Error("/no/such was answered")
	}
	if err := probed.Audit().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := probed.Audit().Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, e := range events {
		if e.Type == audit.Request && e.Method == http.MethodGet && e.Role == "admin" {
			got[e.Path] = e.Code
		}
	}
	want := map[string]int{"/settings": 200, "/identity/users": 200, "/probe": 200, "/no/such": 404}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}
