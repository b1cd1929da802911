package agents_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
)

// TestEveryReaderSeesTheSameLog lets readers join a long run at random points, while it goes on
// and afterwards, fast and slow ones.
func TestEveryReaderSeesTheSameLog(t *testing.T) {
	const pieces = 3000 // far more than the window in memory
	half, rest, slow := make(chan struct{}), make(chan struct{}), make(chan struct{})
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		var all strings.Builder
		for i := range pieces {
			if i == pieces/2 {
				close(half)
				<-rest
			}
			piece := fmt.Sprint(i, " ")
			all.WriteString(piece)
			say(piece)
		}
		close(slow)
		return model.Response{Message: model.Message{Content: all.String()}, Model: "test"}, nil
	}))
	run := f.start("quick", "", "go")
	<-half
	var group sync.WaitGroup
	logs := make([][]eventlog.Event, 20)
	froms := make([]int, len(logs))
	for i := range logs {
		froms[i] = rand.IntN(pieces * 2 / 3)
		group.Go(func() {
			for events, err := range run.Follow(t.Context(), froms[i]) {
				if err != nil {
					t.Errorf("reader %d: %v", i, err)
				}
				if i%4 == 0 && len(logs[i]) < 5 {
					<-slow // until the log has gone on
				}
				logs[i] = append(logs[i], events...)
			}
		})
	}
	close(rest)
	group.Wait()
	want := f.events(run.ID)
	for i, e := range want {
		if e.Seq != i {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
	for i, got := range logs {
		if !cmp.Equal(got, want[froms[i]:]) {
			t.Errorf("reader from %d: got %d events, want %d", froms[i], len(got), len(want)-froms[i])
		}
	}
	if got, want := len(text(want)), len(text(logs[0]))+len(text(want[:froms[0]])); got != want {
		t.Errorf("text: got %d bytes, want %d", got, want)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		<-release
		return answer(say, "ok"), nil
	}))
	run := f.start("quick", "", "go")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	for events, err := range run.Follow(ctx, 0) {
		if len(events) > 0 || !errors.Is(err, errBroken) {
			t.Errorf("got %v, %v, want nothing and the cause", events, err)
		}
	}
	close(release)
	if last := f.events(run.ID); last[len(last)-1].Status != "success" {
		t.Error("the run did not go on without its reader")
	}
}

func TestFollowBeyondTheEndYieldsDone(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		return answer(say, "ok"), nil
	}))
	run, events := f.run("quick", "go")
	for _, from := range []int{len(events), len(events) + 100} {
		got := f.eventsFrom(run.ID, from)
		if len(got) != 1 || got[0].Type != eventlog.Done || got[0].Status != "success" {
			t.Errorf("from %d: got %+v, want done", from, got)
		}
	}
}
