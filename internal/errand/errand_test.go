package errand_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/errand"
)

func TestAsk(t *testing.T) {
	b := bus.NewMemory()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	calls := errand.Listen(b, "other")
	go func() {
		defer close(served)
		errand.Serve(ctx, b, calls, zap.NewNop(), errand.Handler{Do: func(e errand.Errand) string { return e.Do + " " + e.Run }})
	}()
	stays := func(context.Context) bool { return true }
	if got, err := errand.Ask(t.Context(), b, "other", errand.Errand{Do: "cancel", Run: "r"}, stays); err != nil || got != "cancel r" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := b.Publish(t.Context(), "node.other", []byte("no JSON")); err != nil {
		t.Fatal(err)
	}
	if got, err := errand.Ask(t.Context(), b, "other", errand.Errand{Do: "wake"}, stays); err != nil || got != "wake " {
		t.Errorf("after an errand that cannot be read: got %q, %v", got, err)
	}
	cancel()
	<-served
}

// Who does not answer is asked again, until it is another one's turn, or the time is over.
func TestAskNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.NewMemory()
		asked := 0
		got, err := errand.Ask(t.Context(), b, "gone", errand.Errand{}, func(context.Context) bool { asked++; return asked < 3 })
		if err != nil || got != "" || asked != 3 {
			t.Errorf("got %q, %v after %d times", got, err, asked)
		}
		over := errors.New("over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 1200*time.Millisecond, over)
		defer cancel()
		if _, err := errand.Ask(ctx, b, "gone", errand.Errand{}, func(context.Context) bool { return true }); !errors.Is(err, over) {
			t.Errorf("got %v, want the cause", err)
		}
	})
}
