package remote_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/agents/sandbox/remote/daytona"
	"github.com/svc-gateway/svc/agents/sandbox/remote/modal"
	"github.com/svc-gateway/svc/agents/sandbox/remote/remotetest"
	"github.com/svc-gateway/svc/agents/sandbox/remote/runloop"
)

// provider is a server and the client of it.
type provider struct {
	name  string
	serve func(*remotetest.Fleet) *remotetest.Server
	open  func(url string) (remote.Provider, error)
}

const quick = 5 * time.Millisecond

var providers = []provider{
	{"daytona", remotetest.Daytona, func(url string) (remote.Provider, error) {
		return daytona.New(daytona.Config{URL: url, Key: remotetest.Key, Pause: quick})
	}},
	{"runloop", remotetest.Runloop, func(url string) (remote.Provider, error) {
		return runloop.New(runloop.Config{URL: url, Key: remotetest.Key, Pause: quick, Poll: quick, Policy: "np-none"})
	}},
	{"modal", remotetest.Modal, func(url string) (remote.Provider, error) {
		return modal.New(modal.Config{URL: url, TokenID: remotetest.Token, TokenSecret: remotetest.Key})
	}},
}

// everywhere runs a test with each provider.
func everywhere(t *testing.T, test func(t *testing.T, x *fixture)) {
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			x := &fixture{t: t, p: p, fleet: remotetest.NewFleet()}
			x.server = p.serve(x.fleet)
			t.Cleanup(x.server.Close)
			core, logs := observer.New(zap.InfoLevel)
			x.log, x.logs = zap.New(core), logs
			test(t, x)
		})
	}
}

// fixture is a provider of a test's own.
type fixture struct {
	t      *testing.T
	p      provider
	fleet  *remotetest.Fleet
	server *remotetest.Server
	log    *zap.Logger
	logs   *observer.ObservedLogs

	mu        sync.Mutex
	undeleted int
	reason    string
	told      chan struct{} // closed when anything was told
}

const installation = "this-one"

// open opens a box at the provider; change may set what a test wants.
func (x *fixture) open(change func(*remote.Config)) *remote.Box {
	x.t.Helper()
	p, err := x.p.open(x.server.URL)
	if err != nil {
		x.t.Fatal(err)
	}
	x.told = make(chan struct{})
	c := remote.Config{
		Provider: p, Installation: installation, Timeout: 20 * time.Second, Log: x.log, Tell: x.tell,
		Pace: remote.Pace{Poll: quick, Retry: quick, Sweep: time.Hour},
	}
	if change != nil {
		change(&c)
	}
	b := remote.Open(c)
	x.t.Cleanup(b.Close)
	return b
}

func (x *fixture) tell(undeleted int, reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.undeleted, x.reason = undeleted, reason
	close(x.told)
	x.told = make(chan struct{})
}

// until waits for what is told.
func (x *fixture) until(what string, is func(undeleted int, reason string) bool) {
	x.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		x.mu.Lock()
		ok, told := is(x.undeleted, x.reason), x.told
		x.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-told:
		case <-deadline:
			x.t.Fatalf("never told: %s", what)
		}
	}
}

// empty waits until the provider has no sandbox any more.
func (x *fixture) empty() {
	x.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		changed := x.fleet.Changed()
		left := x.fleet.Left()
		if len(left) == 0 {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			x.t.Fatalf("left: %v", left)
		}
	}
}

// noKey fails when the key is in the log.
func (x *fixture) noKey() {
	x.t.Helper()
	for _, e := range x.logs.All() {
		for name, v := range e.ContextMap() {
			if s, ok := v.(string); ok && strings.Contains(s, remotetest.Key) {
				x.t.Errorf("the log has the key, in %s of %q: %s", name, e.Message, s)
			}
		}
	}
}

// wrongKeys open providers with another key than the servers want.
var wrongKeys = map[string]func(string) (remote.Provider, error){
	"daytona": func(url string) (remote.Provider, error) {
		return daytona.New(daytona.Config{URL: url, Key: "wrong-key-123", Pause: quick})
	},
	"runloop": func(url string) (remote.Provider, error) {
		return runloop.New(runloop.Config{URL: url, Key: "wrong-key-123", Pause: quick})
	},
	"modal": func(url string) (remote.Provider, error) {
		return modal.New(modal.Config{URL: url, TokenID: remotetest.Token, TokenSecret: "wrong-key-123"})
	},
}
