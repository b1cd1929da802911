package agents_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
)

// directory knows one subject.
type directory struct {
	mu   sync.Mutex
	role policy.Role
	err  error
}

func (d *directory) Authenticate(context.Context, string, string) (identity.External, error) {
	return identity.External{}, identity.ErrCredentials
}

func (d *directory) Lookup(_ context.Context, subject string) (identity.External, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return identity.External{Source: policy.SourceLDAP, Subject: subject, Name: "ada", Role: d.role}, d.err
}

func (d *directory) say(role policy.Role, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.role, d.err = role, err
}

// A run that goes on in the background ends at its next call when whoever started it may not act
// any more, in whatever way that came about.
func TestRunEndsWithItsPrincipal(t *testing.T) {
	root := policy.Principal{User: "os:root", Role: policy.Admin, Source: policy.SourceOS}
	no, readonly := true, policy.Readonly
	for _, tc := range []struct {
		name, source string // of the principal; "session" is one of a token
		act          func(context.Context, *identity.Service, *directory, policy.Principal) error
		code         string
	}{
		{"token revoked", "token", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, err := s.RevokeToken(ctx, root, p.User, p.TokenID)
			return err
		}, "principal_revoked"},
		{"user demoted", "token", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, err := s.UpdateUser(ctx, root, p.User, identity.UpdateUser{Role: &readonly})
			return err
		}, "principal_demoted"},
		{"user disabled", "token", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, err := s.UpdateUser(ctx, root, p.User, identity.UpdateUser{Disabled: &no})
			return err
		}, "principal_revoked"},
		{"user removed", "token", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, err := s.RemoveUser(ctx, root, p.User)
			return err
		}, "principal_revoked"},
		{"logged out", "session", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, err := s.Logout(ctx, p, p.User, p.SessionID)
			return err
		}, "principal_revoked"},
		{"token of the session rotated", "session", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, _, err := s.RotateToken(ctx, root, p.User, "", 0)
			return err
		}, "principal_revoked"},
		{"demoted in the directory", "ldap", func(_ context.Context, _ *identity.Service, d *directory, _ policy.Principal) error {
			d.say(policy.Readonly, nil)
			return nil
		}, "principal_demoted"},
		{"gone from the directory", "ldap", func(_ context.Context, _ *identity.Service, d *directory, _ policy.Principal) error {
			d.say("", policy.ErrRevoked)
			return nil
		}, "principal_revoked"},
		{"directory down", "ldap", func(_ context.Context, _ *identity.Service, d *directory, _ policy.Principal) error {
			d.say("", errBroken)
			return nil
		}, "identity_unavailable"},
		{"all ended", "ldap", func(ctx context.Context, s *identity.Service, _ *directory, p policy.Principal) error {
			_, err := s.Logout(ctx, root, p.User, "")
			return err
		}, "principal_revoked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, nil)
			users := identitytest.Open(t, filepath.Join(t.TempDir(), "identity.db"), f.audit, f.bus)
			d := &directory{role: policy.User}
			users.SetSources(d, nil)
			p := principalOf(t, users, root, tc.source)
			ran := 0
			touch := agents.NewTool(agents.ToolDef{Name: "touch", Action: policy.Mutate, Parameters: json.RawMessage(`{"type":"object"}`)},
				func(ctx context.Context, _ agents.ToolContext, _ map[string]any) (agents.Result, error) {
					ran++
					return agents.Result{Text: "done"}, tc.act(ctx, users, d, p)
				})
			turns := 0
			f.setup.Model = modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
				if turns++; turns > 3 {
					return answer(say, "end"), nil
				}
				return calls(call("touch", "{}")), nil
			})
			f.setup.Tools, f.setup.Agents[1].Tools = []agents.Tool{touch}, []string{"touch"}
			store, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
			if err != nil {
				t.Fatal(err)
			}
			f.store = store
			f.host = agents.Open(agents.HostConfig{Store: store, Audit: f.audit, Identity: users, Bus: f.bus, Node: "node", Log: zap.NewNop()})
			t.Cleanup(func() { f.host.Close() })
			f.configure()
			started, err := f.rt.As(p).Start(t.Context(), agents.Request{Assistant: "core", Input: []model.Message{{Role: "user", Content: "go"}}})
			if err != nil {
				t.Fatal(err)
			}
			f.events(started.ID)
			run, err := f.store.Run(t.Context(), started.ID)
			if err != nil {
				t.Fatal(err)
			}
			if ran != 1 || run.Failure == nil || run.Failure.Code != tc.code {
				t.Errorf("the tool ran %d times, the run ended with %v; want once and %s", ran, run.Failure, tc.code)
			}
			if denied := f.records(run.ID, audit.ToolDenied); len(denied) == 0 {
				t.Error("no denial was recorded")
			}
		})
	}
}

// principalOf makes somebody of the source who may act.
func principalOf(t *testing.T, s *identity.Service, root policy.Principal, source string) policy.Principal {
	t.Helper()
	if source == "ldap" {
		p, err := s.Admit(t.Context(), identity.External{Source: policy.SourceLDAP, Subject: "1", Name: "ada", Role: policy.User})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	_, secret, err := s.AddUser(t.Context(), root, identity.AddUser{Name: "ada", Role: policy.User})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Verify(t.Context(), secret.Reveal())
	if err == nil && source == "session" {
		_, secret, err = s.Login(t.Context(), identity.NewSession{Principal: p, Kind: identity.WebSession, Lifetime: time.Hour})
		if err == nil {
			p, err = s.Session(t.Context(), secret.Reveal(), identity.WebSession)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}
