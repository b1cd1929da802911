package contain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/internal/contain"
)

var errOver = errors.New("over")

func TestRun(t *testing.T) {
	broken := errors.New("broken")
	for _, tc := range []struct {
		name string
		do   func(ctx context.Context) (string, error)
		got  string
		errs []error
	}{
		{"returns", func(context.Context) (string, error) { return "a", nil }, "a", nil},
		{"fails", func(context.Context) (string, error) { return "a", broken }, "a", []error{broken}},
		{"ends in its grace", func(ctx context.Context) (string, error) { <-ctx.Done(); return "a", broken }, "a", []error{broken, errOver}},
		{"is done in its grace", func(ctx context.Context) (string, error) { <-ctx.Done(); return "a", nil }, "a", nil},
		{"never ends", func(context.Context) (string, error) { time.Sleep(time.Hour); return "a", nil }, "", []error{errOver}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errOver)
				defer cancel()
				got, err := contain.Run(ctx, time.Second, tc.do)
				time.Sleep(2 * time.Hour) // what was left behind has ended
				if got != tc.got || (err == nil) != (len(tc.errs) == 0) {
					t.Errorf("got %q, %v", got, err)
				}
				for _, want := range tc.errs {
					if !errors.Is(err, want) {
						t.Errorf("got %v, want %v", err, want)
					}
				}
			})
		})
	}
}

func TestPanics(t *testing.T) {
	_, err := contain.Run(t.Context(), time.Second, func(context.Context) (int, error) { panic("boom") })
	var p *contain.Panic
	if !errors.As(err, &p) || p.Value != "boom" || !strings.Contains(contain.Traceback(err), "TestPanics") {
		t.Errorf("got %v, %s", err, contain.Traceback(err))
	}
}

func TestTraceback(t *testing.T) {
	got := contain.Traceback(fmt.Errorf("outer: %w", errors.Join(errOver, errors.New("a\nb"))))
	for _, want := range []string{"*fmt.wrapError: outer", "  *errors.joinError", "    *errors.errorString: over", "a; b"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q in it", got, want)
		}
	}
}
