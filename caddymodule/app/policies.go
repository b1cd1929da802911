package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/keyfile"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/files"
)

// policies is the policy of a data folder. It is read when the process begins, and after that only
// when an admin says so: a file that somebody is still writing never counts.
type policies struct {
	live *policy.Live

	mu      sync.Mutex // one change at a time
	loaded  bool
	since   time.Time
	refused string // why the files were refused the last time; empty when they were not
}

// load reads the rule files for the first time.
func (p *policies) load(home settings.Home) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loaded {
		return nil
	}
	e, err := read(home)
	if err != nil {
		return err
	}
	p.live.Apply(e, false)
	p.loaded, p.since = true, time.Now()
	return nil
}

func read(home settings.Home) (*policy.Engine, error) {
	sources, err := files.Read(home.Policies())
	if err != nil {
		return nil, err
	}
	return policy.New(sources...)
}

// apply reads the rule files again and makes them the policy. It is recorded before it counts.
func (p *policies) apply(ctx context.Context, home settings.Home, log *audit.Log, by policy.Principal, now bool) (cli.PolicyChange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.live.Engine()
	c := cli.PolicyChange{Old: old.Hash(), New: old.Hash(), Now: now}
	e, err := read(home)
	if err == nil {
		c.New, c.Rules = e.Hash(), e.Rules()
	}
	input, encoding := json.Marshal(map[string]any{"old": c.Old, "new": c.New, "now": now})
	if encoding != nil {
		return c, encoding
	}
	event := audit.Event{
		Type: audit.Admin, User: by.User, Role: string(by.Role), Address: by.Address, RequestID: by.RequestID,
		Action: "policy.apply", Input: string(input), PolicyHash: c.New, Status: "success",
	}
	if err != nil {
		p.refused, p.since = err.Error(), time.Now()
		event.Status, event.Error = "error", err.Error()
		return c, errors.Join(&refusedFiles{err}, log.Record(ctx, event))
	}
	if err := log.Record(ctx, event); err != nil {
		return c, err
	}
	p.live.Apply(e, now)
	p.refused, p.since = "", time.Now()
	return c, nil
}

// refusedFiles is that the files hold no policy.
type refusedFiles struct{ error }

func (r *refusedFiles) Unwrap() error { return r.error }

// part is the policy as a part of the service.
func (p *policies) part() health.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := health.Part{Status: health.OK, Kind: "files", Since: p.since.UTC()}
	if p.refused != "" {
		h.Status, h.Reason = health.Degraded, "policy_refused"
	}
	return h
}

// PolicyKey returns the key of the hashes that stand for secrets in records of decisions.
func (a *App) PolicyKey() ([]byte, error) {
	key, err := keyfile.Read(a.home.PolicyKey(), func() ([]byte, error) {
		fresh := make([]byte, sha256.Size)
		_, _ = rand.Read(fresh) // never fails: crypto/rand ends the process instead
		return fresh, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the key for records of decisions: %w", err)
	}
	return key, nil
}

// servePolicy is GET /policy on the control socket.
func (a *App) servePolicy(w http.ResponseWriter, _ *http.Request) {
	e := a.shared.policies.live.Engine()
	a.answer(w, cli.Policy{Hash: e.Hash(), Rules: e.Rules()})
}

// serveApply is POST /policy/apply {now} on the control socket.
func (a *App) serveApply(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Now bool `json:"now"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&in); err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "want a JSON object with now: true or false"})
		return
	}
	by, _ := policy.PrincipalFrom(r.Context())
	c, err := a.shared.policies.apply(r.Context(), a.home, a.shared.audit, by, in.Now)
	if refused, ok := errors.AsType[*refusedFiles](err); ok {
		a.logger.Error("the rule files were refused, the policy stays", zap.String("by", by.User), zap.Error(refused))
		// The client is an admin on this machine, who may know what the files say.
		problem.Write(w, r, problem.Problem{Status: http.StatusUnprocessableEntity, Code: "policy_refused", Detail: refused.Error()})
		return
	}
	if err != nil {
		a.logger.Error("applying the rule files", zap.Error(err))
		problem.Write(w, r, problem.Problem{Status: http.StatusServiceUnavailable, Code: unavailable, Detail: "the change could not be recorded and was not made"})
		return
	}
	a.logger.Info("the rule files were applied", zap.String("by", by.User), zap.String("old", c.Old), zap.String("new", c.New), zap.Bool("now", in.Now))
	a.answer(w, c)
}
