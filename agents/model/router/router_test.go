package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/model/router"
)

// scripted is a model that says something and then ends as it is told.
type scripted struct {
	name  string
	says  string
	err   error
	asked *[]string
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Turn(_ context.Context, _ model.Request, delta func(string)) (model.Response, error) {
	*s.asked = append(*s.asked, s.name)
	if s.says != "" {
		delta(s.says)
	}
	if s.err != nil {
		return model.Response{}, s.err
	}
	return model.Response{Message: model.Message{Role: model.RoleAssistant, Content: s.says}, Model: s.name}, nil
}

var (
	errAway   = fmt.Errorf("%w: it sleeps", model.ErrUnavailable)
	errBroken = fmt.Errorf("%w: nonsense", model.ErrBadResponse)
)

func TestFallback(t *testing.T) {
	for _, tt := range []struct {
		name   string
		models []scripted // first, second, third
		want   string     // the answer, or what the error says
		asked  []string
		fails  bool
	}{
		{"the first answers", []scripted{{says: "1"}, {says: "2"}, {says: "3"}}, "1", []string{"first"}, false},
		{"the second answers", []scripted{{err: errAway}, {says: "2"}, {says: "3"}}, "2", []string{"first", "second"}, false},
		{"the third answers", []scripted{{err: errAway}, {err: errAway}, {says: "3"}}, "3", []string{"first", "second", "third"}, false},
		{"nobody answers", []scripted{{err: errAway}, {err: errAway}, {err: errAway}}, "it sleeps", []string{"first", "second", "third"}, true},
		{"never after a piece", []scripted{{says: "half", err: errAway}, {says: "2"}, {says: "3"}}, "it sleeps", []string{"first"}, true},
		{"never after a bad answer", []scripted{{err: errBroken}, {says: "2"}, {says: "3"}}, "nonsense", []string{"first"}, true},
		{"a bad answer of the second", []scripted{{err: errAway}, {err: errBroken}, {says: "3"}}, "nonsense", []string{"first", "second"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			r := routerOf(t, &asked, tt.models)
			var shown strings.Builder
			resp, err := r.Turn(t.Context(), model.Request{}, func(s string) { shown.WriteString(s) })
			if (err != nil) != tt.fails || err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && resp.Message.Content != tt.want {
				t.Errorf("got %+v, %v", resp, err)
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if err == nil && (resp.Model != asked[len(asked)-1] || shown.String() != tt.want) {
				t.Errorf("answered by %s, shown %q", resp.Model, shown.String())
			}
			if resp.Model == "" {
				t.Error("it is not said which model it was")
			}
		})
	}
}

func routerOf(t *testing.T, asked *[]string, models []scripted) *router.Router {
	t.Helper()
	names := []string{"first", "second", "third"}
	var all []router.Named
	for i := range models {
		models[i].name, models[i].asked = names[i], asked
		all = append(all, router.Named{Name: names[i], Model: &models[i]})
	}
	all[0].Fallback, all[0].Also, all[2].Fallback = names[1:], "default", []string{"default"}
	all[0].Window, all[1].Window = 1000, 300
	r, err := router.New(zap.NewNop(), all[0], all[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNamesAndWindows(t *testing.T) {
	var asked []string
	r := routerOf(t, &asked, []scripted{{says: "1"}, {says: "2"}, {says: "3"}})
	for _, tt := range []struct {
		name, answers string
		window        int
	}{{"", "first", 300}, {"default", "first", 300}, {"first", "first", 300}, {"second", "second", 300}, {"third", "third", 1000}} {
		resp, err := r.Turn(t.Context(), model.Request{Model: tt.name}, nil)
		if err != nil || resp.Model != tt.answers || r.Window(tt.name) != tt.window {
			t.Errorf("%q: got %+v, %v, window %d", tt.name, resp, err, r.Window(tt.name))
		}
	}
	if _, err := r.Turn(t.Context(), model.Request{Model: "nobody"}, nil); !errors.Is(err, model.ErrBadResponse) {
		t.Errorf("got %v, want that there is no such model", err)
	}
	if got := r.Names(); !slices.Equal(got, []string{"first", "default", "second", "third"}) {
		t.Errorf("got %v", got)
	}
}

// A model that was away is asked last until it has rested.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		models := []scripted{{err: errAway}, {says: "2"}, {says: "3"}}
		r := routerOf(t, &asked, models)
		turn := func() string {
			resp, err := r.Turn(t.Context(), model.Request{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return resp.Model
		}
		turn()
		models[0].err, models[0].says = nil, "1"
		if got := turn(); got != "second" {
			t.Errorf("got %s, want the second while the first rests", got)
		}
		time.Sleep(31 * time.Second)
		if got := turn(); got != "first" {
			t.Errorf("got %s, want the first again", got)
		}
		models[1].err, models[2].err = errAway, errAway
		if got := turn(); got != "first" {
			t.Errorf("got %s", got)
		}
	})
}

// A cancelled run asks nobody else.
func TestCancelled(t *testing.T) {
	var asked []string
	r := routerOf(t, &asked, []scripted{{err: errAway}, {says: "2"}, {says: "3"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Turn(ctx, model.Request{}, nil); err == nil || len(asked) != 1 {
		t.Errorf("got %v after asking %v", err, asked)
	}
}

func TestNewRefuses(t *testing.T) {
	m := model.NewDemo()
	for name, all := range map[string][]router.Named{
		"two of a name":   {{Name: "a", Model: m}, {Name: "a", Model: m}},
		"nobody":          {{Name: "a", Model: m, Fallback: []string{"b"}}},
		"itself":          {{Name: "a", Model: m, Fallback: []string{"a"}}},
		"itself, by also": {{Name: "a", Also: "c", Model: m, Fallback: []string{"c"}}},
	} {
		if _, err := router.New(zap.NewNop(), all[0], all[1:]...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
