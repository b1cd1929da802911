package audit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
)

func TestAround(t *testing.T) {
	type row struct{ Status, Output, Error string }
	for name, tc := range map[string]struct {
		err  error
		gone bool // the caller, while it is done
		want []row
	}{
		"done":            {nil, false, []row{{"started", "", ""}, {"success", "seen", ""}}},
		"failed":          {errors.New("no space"), false, []row{{"started", "", ""}, {"error", "seen", "no space"}}},
		"the caller goes": {nil, true, []row{{"started", "", ""}, {"success", "seen", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := l.Around(ctx, audit.Event{Type: audit.Admin, Action: "x"}, func(end *audit.Event) error {
				if n := len(events(t, l)); n != 1 {
					t.Errorf("got %d records before it is done, want one", n)
				}
				if end.Output = "seen"; tc.gone {
					cancel()
				}
				return tc.err
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("got %v, want %v", err, tc.err)
			}
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			var got []row
			for _, e := range events(t, l) {
				got = append(got, row{e.Status, e.Output, e.Error})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAroundDoesNothingUnrecorded(t *testing.T) {
	l := open(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	err := l.Around(t.Context(), audit.Event{Type: audit.Admin}, func(*audit.Event) error {
		t.Error("it was done")
		return nil
	})
	if !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func events(t *testing.T, l *audit.Log) []audit.Event {
	t.Helper()
	all, err := l.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
