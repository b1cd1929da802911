// Package spending bounds what language models are used for in a day: tokens and turns, of each user and of all
// together.
//
//	m = spending.Model(m, spending.Config{Store: store, Most: most, Log: log})
//
// # Guarantees
//
// A turn is counted durably before the model is asked, with the tokens of what it is told by estimate. A turn that
// would use more than a budget has left is not taken: the error matches [model.ErrBudget], and names the setting and
// the time at which the budget begins anew. When the turn is over, what it cost takes the place of the estimate. So
// turns side by side cannot use a budget more than once; what can go beyond it are the answers of the turns that
// were allowed. What is not known is not spent: a store that does not answer ends the turn.
//
// A turn that fails keeps its place among the turns. It costs its prompt, and as much of an answer as was seen, by
// estimate: whether the model had thought before it failed, or was stopped, nobody knows. Its tokens are given back
// only when no answer had begun ([model.ErrUnasked]). What a process had counted when it died stays counted. A day
// begins at midnight UTC.
//
// # Concurrency
//
// All of it is safe for concurrent use, by several processes on one store.
package spending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
)

// Used is what was used, or may be. As a bound, 0 is none.
type Used struct{ Tokens, Calls int64 }

// Most is what may be used in a day: by one user, and by all together.
type Most struct{ User, All Used }

// Store keeps what was used on each day.
type Store interface {
	// Spend adds to what a user, and all users together, used on a day. Less than nothing gives back. If that
	// makes more than may be used, nothing is added, and the error is an [*Over].
	Spend(ctx context.Context, day, user string, add Used, most Most) error
	// Spent is what a user, and what all users together used on a day.
	Spent(ctx context.Context, day, user string) (own, all Used, err error)
}

// Over is why nothing was added.
type Over struct {
	All    bool // it is the budget of all users together
	Tokens bool // of tokens, not of turns
	Used   int64
	Most   int64
}

// Error tells of the budget without a number: it is for logs.
func (o *Over) Error() string { return "the budget " + o.setting() + " is used up" }

func (o *Over) setting() string {
	what := "calls"
	if o.Tokens {
		what = "tokens"
	}
	if !o.All {
		what = "user_" + what
	}
	return "budget." + what
}

// Check returns the bound that own and all, with what is to be added, are beyond; nil: none. Stores call it.
func (m Most) Check(own, all Used) error {
	for _, b := range []struct {
		all, tokens bool
		used, most  int64
	}{
		{false, true, own.Tokens, m.User.Tokens},
		{false, false, own.Calls, m.User.Calls},
		{true, true, all.Tokens, m.All.Tokens},
		{true, false, all.Calls, m.All.Calls},
	} {
		if b.most > 0 && b.used > b.most {
			return &Over{All: b.all, Tokens: b.tokens, Used: b.used, Most: b.most}
		}
	}
	return nil
}

// Config says what may be used, and where it is counted.
type Config struct {
	Store Store
	Most  Most
	Log   *zap.Logger
}

type bounded struct {
	model.Model
	Config
}

// Model returns a model that is asked within the budget only.
func Model(m model.Model, c Config) model.Model { return bounded{m, c} }

// Day is the day that a time belongs to.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Turn implements [model.Model].
func (b bounded) Turn(ctx context.Context, req model.Request, delta func(string)) (model.Response, error) {
	now := time.Now()
	day, asked := Day(now), Used{Tokens: model.EstimateUsage(req, 0).PromptTokens, Calls: 1}
	err := b.Store.Spend(ctx, day, req.User, asked, b.Most)
	var over *Over
	switch {
	case errors.As(err, &over):
		return model.Response{}, model.OverBudget(over.tell(req.User, asked, now))
	case err != nil:
		return model.Response{}, fmt.Errorf("%w: %w: counting the turn: %w", model.ErrUnavailable, model.ErrUnasked, err)
	}
	streamed := 0
	resp, err := b.Model.Turn(ctx, req, func(text string) {
		if streamed += len(text); delta != nil {
			delta(text)
		}
	})
	cost := resp.Usage.TotalTokens
	if err != nil {
		if cost = 0; streamed > 0 || !errors.Is(err, model.ErrUnasked) {
			cost = model.EstimateUsage(req, streamed).TotalTokens
		}
	}
	if rest := (Used{Tokens: cost - asked.Tokens}); rest.Tokens != 0 {
		if failed := b.Store.Spend(context.WithoutCancel(ctx), day, req.User, rest, Most{}); failed != nil {
			b.Log.Warn("counting what a turn cost failed, its estimate stands", zap.String("user", req.User), zap.Int64("tokens", cost), zap.Error(failed))
		}
	}
	return resp, err
}

// tell is what the user learns. What all users together have used is not told.
func (o *Over) tell(user string, asked Used, now time.Time) string {
	today := now.UTC().Truncate(24 * time.Hour)
	what, cost := "turns of models", asked.Calls
	if o.Tokens {
		what, cost = "tokens", asked.Tokens
	}
	who := "all users together may use"
	if !o.All {
		who = fmt.Sprintf("%s has used %d of", user, max(0, o.Used-cost))
	}
	need := ""
	if o.Tokens {
		need = fmt.Sprintf(", and this turn needs about %d", cost)
	}
	return fmt.Sprintf("%s %d %s today%s (setting %s); the next day begins at 00:00 UTC, in %s",
		who, o.Most, what, need, o.setting(), today.Add(24*time.Hour).Sub(now).Truncate(time.Minute))
}
