package spending_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/spending"
	"github.com/svc-gateway/svc/agents/spending/spendingtest"
)

// memory is a store for tests.
type memory struct {
	mu   sync.Mutex
	used map[string]spending.Used
	down error
}

func (m *memory) Spend(_ context.Context, day, user string, add spending.Used, most spending.Most) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil {
		return m.down
	}
	own, all := plus(m.used[day+user], add), plus(m.used[day], add)
	if err := most.Check(own, all); err != nil {
		return err
	}
	m.used[day+user], m.used[day] = own, all
	return nil
}

func (m *memory) Spent(_ context.Context, day, user string) (own, all spending.Used, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used[day+user], m.used[day], nil
}

func plus(a, b spending.Used) spending.Used {
	return spending.Used{Tokens: max(0, a.Tokens+b.Tokens), Calls: max(0, a.Calls+b.Calls)}
}

func newMemory() *memory { return &memory{used: map[string]spending.Used{}} }

func TestMemory(t *testing.T) {
	spendingtest.Run(t, func(*testing.T) spending.Store { return newMemory() })
}

// costly is a model whose turns cost what it says.
type costly struct {
	tokens int64
	says   string
	err    error
}

func (costly) Name() string { return "costly" }

func (c costly) Turn(_ context.Context, _ model.Request, delta func(string)) (model.Response, error) {
	if c.says != "" {
		delta(c.says)
	}
	return model.Response{Message: model.Message{Role: model.RoleAssistant, Content: c.says}, Usage: model.Usage{TotalTokens: c.tokens}}, c.err
}

var hello = model.Request{User: "ada", Messages: []model.Message{{Role: model.RoleUser, Content: strings.Repeat("word", 10)}}} // about 10 tokens

func TestWhatATurnCosts(t *testing.T) {
	down := errors.New("down")
	for _, tt := range []struct {
		name   string
		m      costly
		tokens int64
	}{
		{"an answer", costly{tokens: 123, says: "yes"}, 123},
		{"less than was thought", costly{tokens: 2, says: "yes"}, 2},
		{"failed before a word", costly{err: down}, 10},
		{"stopped while it thought", costly{err: context.Canceled}, 10},
		{"not reached", costly{err: fmt.Errorf("%w: %w", model.ErrUnasked, down)}, 0},
		{"failed in the middle", costly{says: "half of it", err: down}, 13},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newMemory()
			m := spending.Model(tt.m, spending.Config{Store: s, Most: spending.Most{User: spending.Used{Tokens: 1000}}, Log: zap.NewNop()})
			_, err := m.Turn(t.Context(), hello, nil)
			if !errors.Is(err, tt.m.err) {
				t.Fatal(err)
			}
			if own, all, _ := s.Spent(t.Context(), spending.Day(time.Now()), "ada"); own != all || own != (spending.Used{Tokens: tt.tokens, Calls: 1}) {
				t.Errorf("got %+v, want %d tokens", own, tt.tokens)
			}
		})
	}
}

func TestBudgetIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock of the test begins at midnight UTC
		time.Sleep(18*time.Hour + 30*time.Minute)
		s := newMemory()
		of := func(most spending.Most) model.Model {
			return spending.Model(costly{tokens: 95, says: "yes"}, spending.Config{Store: s, Most: most, Log: zap.NewNop()})
		}
		if _, err := of(spending.Most{User: spending.Used{Tokens: 100}}).Turn(t.Context(), hello, nil); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			most spending.Most
			says string
		}{
			{spending.Most{User: spending.Used{Tokens: 100}}, "ada has used 95 of 100 tokens today, and this turn needs about 10 (setting budget.user_tokens); the next day begins at 00:00 UTC, in 5h30m0s"},
			{spending.Most{User: spending.Used{Calls: 1}}, "ada has used 1 of 1 turns of models today (setting budget.user_calls); the next day"},
			{spending.Most{All: spending.Used{Tokens: 100}}, "all users together may use 100 tokens today, and this turn needs about 10 (setting budget.tokens)"},
			{spending.Most{All: spending.Used{Calls: 1}}, "all users together may use 1 turns of models today (setting budget.calls)"},
		} {
			_, err := of(tt.most).Turn(t.Context(), hello, nil)
			if !errors.Is(err, model.ErrBudget) || !strings.Contains(model.ClientMessage(err), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		}
		time.Sleep(6 * time.Hour)
		if _, err := of(spending.Most{User: spending.Used{Tokens: 100, Calls: 1}}).Turn(t.Context(), hello, nil); err != nil {
			t.Errorf("on the next day: %v", err)
		}
	})
}

// The attack: many runs at once, each of which sees that there is still something left.
func TestSideBySideABudgetIsSpentOnce(t *testing.T) {
	s := newMemory()
	m := spending.Model(costly{tokens: 10, says: "yes"}, spending.Config{Store: s, Most: spending.Most{User: spending.Used{Calls: 5}}, Log: zap.NewNop()})
	results := make(chan error)
	for range 50 {
		go func() {
			_, err := m.Turn(context.WithoutCancel(t.Context()), hello, nil)
			results <- err
		}()
	}
	taken := 0
	for range 50 {
		switch err := <-results; {
		case err == nil:
			taken++
		case !errors.Is(err, model.ErrBudget):
			t.Error(err)
		}
	}
	if taken != 5 {
		t.Errorf("%d turns were taken, want 5", taken)
	}
}

func TestWithoutItsStoreNothingIsSpent(t *testing.T) {
	s := newMemory()
	s.down = fmt.Errorf("disk on fire")
	m := spending.Model(costly{says: "yes"}, spending.Config{Store: s, Most: spending.Most{User: spending.Used{Calls: 5}}, Log: zap.NewNop()})
	if _, err := m.Turn(t.Context(), hello, nil); !errors.Is(err, model.ErrUnavailable) || strings.Contains(model.ClientMessage(err), "fire") {
		t.Errorf("got %v", err)
	}
}
