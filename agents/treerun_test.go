package agents_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
)

// said is a message as the model of the test has it.
type said struct{ id, text string }

// put is the reducer as one would explain it.
func put(list []said, m said) []said {
	list = slices.Clone(list)
	if i := slices.IndexFunc(list, func(s said) bool { return s.id == m.id }); i >= 0 {
		list[i] = m
		return list
	}
	return append(list, m)
}

// Random runs, forks, updates and rollbacks leave every checkpoint of a thread with the messages that a
// simple model of the reducer says, also those of branches that the thread has left.
func TestRandomThreads(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		return answer(say, fmt.Sprint("after ", len(req.Messages))), nil
	}))
	ctx, v := t.Context(), f.rt.As(ada)
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		th := f.thread(agents.ThreadRequest{})
		known := map[string][]said{} // by checkpoint
		for step := range 12 {
			at := ""
			if all := f.history(th.ID); len(all) > 0 && rnd.IntN(3) == 0 {
				at = all[rnd.IntN(len(all))].ID
			}
			start := f.state(th.ID, at)
			was := heard(start)
			id := fmt.Sprint("m", rnd.IntN(8))
			text := fmt.Sprint("step ", step)
			switch rnd.IntN(4) {
			case 0:
				u := agents.StateUpdate{Checkpoint: at, Messages: []model.Message{{ID: id, Role: "user", Content: text}}}
				want := was
				if len(was) > 0 && rnd.IntN(2) == 0 {
					u.Remove = []string{was[rnd.IntN(len(was))].id}
					want = slices.DeleteFunc(slices.Clone(was), func(s said) bool { return s.id == u.Remove[0] })
				}
				c, err := v.UpdateState(ctx, th.ID, u)
				if err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				known[c.ID] = put(want, said{id, text})
			case 1, 2:
				f.done(agents.Request{Thread: th.ID, Checkpoint: at, Input: []model.Message{{ID: id, Role: "user", Content: text}}})
				now := f.state(th.ID, "")
				want := put(was, said{id, text})
				known[now.Parent] = want
				answer := now.Messages[len(now.Messages)-1].ID
				known[now.ID] = put(want, said{answer, fmt.Sprint("after ", len(want))})
			case 3:
				before := f.state(th.ID, "")
				h := f.ask(agents.Request{Thread: th.ID, Checkpoint: at, Input: []model.Message{{ID: id, Role: "user", Content: text}}})
				if err := h.Rollback(ctx); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				if now := f.state(th.ID, ""); !cmp.Equal(now, before) {
					t.Fatalf("seed %d, step %d, after a rollback: %s", seed, step, cmp.Diff(before, now))
				}
			}
		}
		if len(known) == 0 {
			t.Fatalf("seed %d did nothing", seed)
		}
		for id, want := range known {
			if got := heard(f.state(th.ID, id)); !slices.Equal(got, want) {
				t.Errorf("seed %d, checkpoint %s: got %v, want %v", seed, id, got, want)
			}
		}
		copied, err := v.CopyThread(ctx, th.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outline(f.history(copied.ID)), outline(f.history(th.ID)); !cmp.Equal(got, want) {
			t.Errorf("seed %d, the copy: %s", seed, cmp.Diff(want, got))
		}
		now := f.state(th.ID, "")
		if err := v.PruneThreads(ctx, []string{th.ID}, agents.PruneKeep); err != nil {
			t.Fatal(err)
		}
		kept := f.history(th.ID)
		if len(kept) > 1 || len(kept) == 1 && !slices.Equal(heard(kept[0]), heard(now)) {
			t.Errorf("seed %d, pruned: got %q", seed, outline(kept))
		}
		f.done(agents.Request{Thread: th.ID, Input: user("more")})
		if got := heard(f.state(th.ID, "")); len(got) != len(heard(now))+2 {
			t.Errorf("seed %d, after pruning: got %v", seed, got)
		}
	}
}

func heard(c agents.Checkpoint) []said {
	var list []said
	for _, m := range c.Messages {
		list = append(list, said{m.ID, m.Content})
	}
	return list
}
