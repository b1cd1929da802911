package agents_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
)

// A reader of a thread learns at once of a run that begins in another process.
func TestRunsAreSeenToBegin(t *testing.T) {
	f := newFixture(t, modelFunc(func(context.Context, model.Request, func(string)) (model.Response, error) {
		return model.Response{Message: model.Message{Content: "done"}, Model: "test"}, nil
	}))
	other := f.beside("other")
	first := f.start("quick", "", "one")
	f.events(first.ID)
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second) // before it would look by itself
	defer stop()
	var begun []string
	last := -1
	for run, err := range f.rt.As(ada).Begun(ctx, first.Thread, agents.Latest) {
		if err != nil {
			t.Fatalf("after %d runs: %v", len(begun), err)
		}
		if run.First <= last {
			t.Errorf("%d comes after %d", run.First, last)
		}
		begun, last = append(begun, run.ID), run.First
		if len(begun) == 3 {
			break
		}
		other.events(other.start("quick", first.Thread, "more").ID)
	}
	for _, tt := range []struct {
		name string
		from int
		want []string
	}{
		{"the latest", agents.Latest, begun[2:]},
		{"all", 0, begun},
		{"from within the second", last - 1, begun[1:]},
		{"from the third", last, begun[2:]},
	} {
		var got []string
		done := errors.New("enough")
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		for run, err := range f.rt.As(ada).Begun(ctx, first.Thread, tt.from) {
			if err != nil {
				if !errors.Is(err, done) {
					t.Errorf("%s: %v", tt.name, err)
				}
				break
			}
			if got = append(got, run.ID); len(got) == len(tt.want) {
				stop(done)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
