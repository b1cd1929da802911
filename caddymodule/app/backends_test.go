package app_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/redistest"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
)

// details are what the control socket says of the service's health.
func details(t *testing.T, h settings.Home) health.Details {
	t.Helper()
	var d health.Details
	if text, err := ask(t, h, "/health/details"); err != nil {
		t.Error(err)
	} else if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Error(err)
	}
	return d
}

func awaitBus(t *testing.T, h settings.Home, status string) health.Part {
	t.Helper()
	for deadline := time.After(30 * time.Second); ; {
		d := details(t, h)
		if p := d.Parts["bus"]; p.Status == status && d.Status == status {
			return p
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("the live bus is not %s: %+v", status, d)
		}
	}
}

func TestHealthOfMemory(t *testing.T) {
	h := home(t)
	if err := load(t, `"probe": {}`); err != nil {
		t.Fatal(err)
	}
	d := details(t, h)
	if p := d.Parts["bus"]; d.Status != health.OK || p.Status != health.OK || p.Kind != "memory" || p.Reason != "" || p.Since.IsZero() {
		t.Errorf("got %+v", d)
	}
	if d.Node != probed.Node() || d.Version == "" {
		t.Errorf("got node %q and version %q", d.Node, d.Version)
	}
}

// Two services on one host are two nodes, and so is one after its restart.
func TestNodesDiffer(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 2 {
		home(t)
		if err := load(t, `"probe": {}`); err != nil {
			t.Fatal(err)
		}
		node := probed.Node()
		if !strings.HasPrefix(node, host+"-") || len(node) != len(host)+9 || seen[node] {
			t.Errorf("got the node %q on %q, after %v", node, host, seen)
		}
		seen[node] = true
		if err := load(t, `"probe": {}`); err != nil {
			t.Fatal(err)
		}
		if probed.Node() != node {
			t.Error("a reload changed the node's name")
		}
		if err := caddy.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func redisSettings(address string, more ...string) string {
	return `"probe": {}, "svc": {"bus": {` + strings.Join(append(more, `"kind": "redis", "address": "`+address+`", "timeout": "10s"`), ", ") + `}}`
}

// A service starts without its Redis, says so, and has it when it comes.
func TestRedisNotThereAtStart(t *testing.T) {
	r := redistest.New(t)
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	h := home(t)
	log := filepath.Join(t.TempDir(), "log")
	t.Cleanup(func() { _ = caddy.Stop() })
	config := `{"admin": {"disabled": true}, "logging": {"logs": {"default": {"writer": {"output": "file", "filename": "` + log + `"}}}}, "apps": {` + redisSettings(r.Address) + `}}`
	if err := caddy.Load([]byte(config), true); err != nil {
		t.Fatal(err)
	}
	if p := awaitBus(t, h, health.Degraded); p.Kind != "redis" || p.Reason != "unreachable" {
		t.Errorf("got %+v", p)
	}
	if _, err := probed.Bus().Lease(t.Context(), "k", "a", time.Minute); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if err := r.Run(); err != nil {
		t.Fatal(err)
	}
	awaitBus(t, h, health.OK)
	if _, err := probed.Bus().Lease(t.Context(), "k", "a", time.Minute); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the live bus is away", "the live bus works again"} {
		if n := strings.Count(string(text), want); n != 1 {
			t.Errorf("got %q %d times in the log, want once", want, n)
		}
	}
}

func TestRedisIsKeptOverReloads(t *testing.T) {
	r := redistest.New(t)
	h := home(t)
	if err := load(t, redisSettings(r.Address)); err != nil {
		t.Fatal(err)
	}
	first := probed.Bus()
	awaitBus(t, h, health.OK)
	if err := load(t, redisSettings(r.Address)); err != nil {
		t.Fatal(err)
	}
	if probed.Bus() != first {
		t.Error("a reload opened another bus")
	}
	for name, apps := range map[string]string{
		"another prefix": redisSettings(r.Address, `"prefix": "other:"`),
		"memory":         `"probe": {}`,
	} {
		if err := load(t, apps); err == nil || !strings.Contains(err.Error(), "the settings bus.* have changed, and a running service keeps its live bus: restart it, or undo the change") {
			t.Errorf("%s: got %v, want an error that says what to do", name, err)
		}
	}
	if _, err := first.Lease(t.Context(), "k", "a", time.Minute); err != nil {
		t.Errorf("after reloads that failed: %v", err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	free(t, h)
	if err := load(t, `"probe": {}`); err != nil {
		t.Errorf("after a stop: %v", err)
	}
}

func TestBusSecrets(t *testing.T) {
	home(t)
	if err := load(t, redisSettings("127.0.0.1:1", `"password": "{env.SVC_TEST_NO_SUCH}"`)); err == nil || !strings.Contains(err.Error(), "bus.password: SVC_TEST_NO_SUCH is not set") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
	if err := load(t, redisSettings("127.0.0.1:1", `"tls": true, "ca_file": "/no/such.pem"`)); err == nil || !strings.Contains(err.Error(), "bus.ca_file: open /no/such.pem") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}
