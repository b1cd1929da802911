package statetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// room has threads hold so much and no more, whoever says it. What a run says that is under way is kept.
func room(t *testing.T, s agents.Store) {
	ctx := t.Context()
	th := thread(t, s, "ada", now)
	full := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, agents.ErrThreadFull) {
			t.Errorf("%s: got %v, want %v", what, err, agents.ErrThreadFull)
		}
	}
	many := make([]tree.Write, agents.MaxMessages+1)
	for i := range many {
		many[i] = tree.Write{Created: now, Source: tree.Update, Message: &model.Message{Role: "user", Content: "x"}}
	}
	_, err := s.Write(ctx, th.ID, tree.Root, 0, many)
	full("too many messages", err)

	large := model.Message{ID: "m", Role: "user", Content: strings.Repeat("x", agents.MaxSaid/2)}
	part := []tree.Write{{Created: now, Source: tree.Update, Message: &large}}
	if err := s.Room(ctx, th.ID, part); err != nil {
		t.Fatal(err)
	}
	r := run(t, th.ID)
	create(t, s, r, nil)
	r.Status = agents.Success
	answers := []model.Message{{Role: "assistant", Content: large.Content}, {Role: "assistant", ToolCalls: []model.ToolCall{{Arguments: large.Content}}}}
	if err := s.FinishRun(ctx, r, answers, nil); err != nil {
		t.Fatal(err)
	}
	_, err = s.Write(ctx, th.ID, 2, 3, part)
	full("a write", err)
	full("the question", s.Room(ctx, th.ID, part))
	next := run(t, th.ID)
	full("a run", s.CreateRun(ctx, next, next.Frames[0].Messages, nil))
	to := agents.Thread{ID: id(t), Owner: "ada", Created: now, Updated: now, Status: agents.ThreadIdle}
	if err := s.CopyThread(ctx, th.ID, to); err != nil {
		t.Fatal(err)
	}
	full("in a copy", s.Room(ctx, to.ID, part))
	if err := s.Prune(ctx, th.ID); err != nil {
		t.Fatal(err)
	}
	full("pruned, since all of it is where it stands", s.Room(ctx, th.ID, part))

	// What is on another branch goes with a prune.
	half := thread(t, s, "ada", now)
	for i := range 2 {
		if _, err := s.Write(ctx, half.ID, tree.Root, i, part); err != nil {
			t.Fatal(err)
		}
	}
	full("two branches", s.Room(ctx, half.ID, part))
	if err := s.Prune(ctx, half.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Room(ctx, half.ID, part); err != nil {
		t.Errorf("after a prune: got %v", err)
	}
	if got := len(said(t, s, half.ID)); got != 1 {
		t.Errorf("got %d messages, want one", got)
	}
}

// edits are written at once with the end of a run.
func edits(t *testing.T, s agents.Store) {
	ctx := t.Context()
	at := 1
	for _, tc := range []struct {
		name  string
		after *int
		want  []string
	}{
		{"after the run", nil, []string{"hello", "one", "hello", "two", "edited"}},
		{"earlier", &at, []string{"hello", "one", "edited"}},
	} {
		th := thread(t, s, "ada", now)
		first := run(t, th.ID)
		create(t, s, first, nil)
		finish(t, s, first, "one")
		r := run(t, th.ID)
		create(t, s, r, nil)
		m := say("user", "edited")
		r.Status, r.Edit = agents.Cancelled, &agents.Edit{After: tc.after, Writes: []tree.Write{
			{Created: now, Source: tree.Update, Message: &m, Change: tree.Change{Values: map[string]any{"topic": tc.name}, Tip: true}},
		}}
		if err := s.FinishRun(ctx, r, []model.Message{say("assistant", "two")}, nil); err != nil {
			t.Fatal(err)
		}
		if got := said(t, s, th.ID); !cmp.Equal(got, tc.want) || r.Edit.First != 4 {
			t.Errorf("%s: got %q at %d, want %q at 4", tc.name, got, r.Edit.First, tc.want)
		}
		if list, _, err := s.Threads(ctx, agents.ThreadFilter{Values: map[string]any{"topic": tc.name}, Limit: 5}); err != nil || len(list) != 1 || list[0].Status != agents.ThreadIdle || list[0].Messages != 5 {
			t.Errorf("%s: got %+v, %v", tc.name, list, err)
		}
		last := run(t, th.ID)
		create(t, s, last, nil)
		finish(t, s, last, "three")
		if got := said(t, s, th.ID); !cmp.Equal(got, append(tc.want, "hello", "three")) {
			t.Errorf("%s, and then: got %q", tc.name, got)
		}
	}
}
