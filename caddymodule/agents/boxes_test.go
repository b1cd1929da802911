package agents

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/internal/settings"
)

func TestInstallation(t *testing.T) {
	home, err := settings.Locate(func(string) (string, bool) { return t.TempDir(), true }, "")
	if err != nil {
		t.Fatal(err)
	}
	first, err := installation(home)
	if err != nil || len(first) != 32 {
		t.Fatalf("got %q, %v", first, err)
	}
	if again, err := installation(home); err != nil || again != first {
		t.Errorf("got %q, %v, want %q", again, err, first)
	}
	if err := os.WriteFile(filepath.Join(home.Dir(), "keys", "installation.id"), []byte("x\"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := installation(home); err == nil || !strings.Contains(err.Error(), "remove the file to have another made") {
		t.Errorf("got %v", err)
	}
}

func TestPlace(t *testing.T) {
	for want, s := range map[string]settings.Sandbox{
		"":                                       {Provider: "local"},
		"in a sandbox of daytona":                {Provider: "daytona"},
		"in a sandbox on this host (core=modal)": {Provider: "local", Agents: []string{"core=modal"}},
		"in a sandbox of runloop (core=local, quick=x)": {Provider: "runloop", Agents: []string{"core=local", "quick=x"}},
	} {
		if got := place(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// lent is a provider that is asked for nothing but a sandbox.
type lent struct{ asked chan struct{} }

func (l lent) Name() string { return "daytona" }
func (l lent) Create(context.Context, remote.Order) (remote.Sandbox, error) {
	l.asked <- struct{}{}
	return nil, context.DeadlineExceeded
}
func (l lent) List(context.Context, string) ([]remote.Found, error) { return nil, nil }
func (l lent) Delete(context.Context, string) error                 { return nil }
func (l lent) Close()                                               {}

// Commands of the host stay on the host; an agent's programs go where its choice says.
func TestBoxesChoose(t *testing.T) {
	p := lent{make(chan struct{}, 10)}
	here := &box{ready: make(chan struct{}), err: &sandbox.Unavailable{Reason: "here"}}
	close(here.ready)
	b := &boxes{
		local: here, choice: settings.Sandbox{Provider: "daytona", Agents: []string{"quick=local"}},
		remote: map[string]*remote.Box{"daytona": remote.Open(remote.Config{Provider: p})},
	}
	defer b.remote["daytona"].Close()
	for agent, far := range map[string]bool{"": false, "core": true, "quick": false} {
		_, err := b.Run(t.Context(), sandbox.Spec{Args: []string{"ls"}, Agent: agent})
		if got := len(p.asked) > 0; got != far || err == nil || strings.HasSuffix(err.Error(), "here") == far {
			t.Errorf("%q: got %v, far %v", agent, err, got)
		}
		for len(p.asked) > 0 {
			<-p.asked
		}
	}
}
