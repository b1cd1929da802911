package memory_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

func (f *fixture) ids(p policy.Principal) (ids []string) {
	f.t.Helper()
	list, err := f.List(f.t.Context(), p, memory.Filter{Owner: p.User, Limit: 100})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

// Users see and forget what is known of them; admins everything. Who asks for another's is on record.
func TestWhoSeesAndForgets(t *testing.T) {
	f := newFixture(t)
	f.said(ada, "my editor is vim")
	f.said(ada, "my shell is zsh")
	f.said(bob, "my editor is ed")
	if got := f.all(root); len(got) != 3 {
		t.Errorf("an admin sees %q, want all", got)
	}
	for name, do := range map[string]func() (int, error){
		"List": func() (int, error) {
			list, err := f.List(t.Context(), bob, memory.Filter{Owner: "ada", Limit: 10})
			return len(list), err
		},
		"Forget": func() (int, error) { return f.Forget(t.Context(), bob, f.ids(ada)) },
		"Clear":  func() (int, error) { return f.Clear(t.Context(), bob, "ada") },
	} {
		if n, err := do(); n != 0 || err != nil {
			t.Errorf("%s of another's: got %d, %v", name, n, err)
		}
	}
	if n := len(f.events(audit.PermissionDenied)); n != 2 { // an id does not tell whose it is
		t.Errorf("%d attempts are on record, want 2", n)
	}
	if n, err := f.Forget(t.Context(), ada, f.ids(ada)[:1]); n != 1 || err != nil {
		t.Errorf("Forget: got %d, %v", n, err)
	}
	if n, err := f.Forget(t.Context(), root, f.ids(bob)); n != 1 || err != nil {
		t.Errorf("an admin's Forget: got %d, %v", n, err)
	}
	if n, err := f.Clear(t.Context(), ada, ""); n != 1 || err != nil {
		t.Errorf("Clear: got %d, %v", n, err)
	}
	if got := f.all(root); got != nil {
		t.Errorf("left: %q", got)
	}
	for _, e := range f.events(audit.MemoryForgotten) {
		if strings.Contains(e.Input+e.Output, "vim") {
			t.Errorf("the record of what was forgotten says it: %+v", e)
		}
	}
	for _, limit := range []int{0, 1001} {
		if _, err := f.List(t.Context(), ada, memory.Filter{Limit: limit}); !isField(err) {
			t.Errorf("limit %d: got %v", limit, err)
		}
	}
	if _, err := f.Forget(t.Context(), ada, nil); !isField(err) {
		t.Errorf("no ids: got %v", err)
	}
}

// Who gets the name of a removed user knows nothing of that one.
func TestANameIsGivenAgain(t *testing.T) {
	since := map[string]time.Time{}
	f := newFixture(t, func(c *memory.Config) {
		c.Since = func(_ context.Context, owner string) (time.Time, error) { return since[owner], nil }
	})
	since["ada"] = f.now
	f.said(ada, "my editor is vim")
	f.said(bob, "my editor is ed")
	f.now = f.now.Add(time.Hour)
	since["ada"] = time.Time{} // removed
	if got := f.all(root); len(got) != 2 {
		t.Errorf("got %q, want both", got)
	}
	since["ada"] = f.now
	if r := f.recall(ada, "core", "my editor?"); r.Entries != 0 {
		t.Errorf("the new user is told %s", r.Text)
	}
	f.said(ada, "my editor is nano")
	if diff := cmp.Diff([]string{`fact "" my editor is nano user`}, f.all(ada)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := f.all(bob); len(got) != 1 {
		t.Errorf("another user has %q", got)
	}
	if gone := f.events(audit.MemoryForgotten); len(gone) != 1 || !strings.Contains(gone[0].Output, `"memories":1`) {
		t.Errorf("on record: %+v", gone)
	}
}

func isField(err error) bool {
	_, ok := errors.AsType[*agents.FieldError](err)
	return ok
}

// Jobs of a user are done in order; the queue is bounded, and its end waits for what it has.
func TestQueue(t *testing.T) {
	q := new(memory.Queue)
	release := make(chan struct{})
	var order []int
	fitted := 0
	for n := range 40 {
		if q.Add("ada", func(context.Context) {
			if n == 0 {
				<-release
			}
			order = append(order, n)
		}) {
			fitted++
		}
	}
	if fitted != 32 && fitted != 33 { // one may be at work already
		t.Errorf("%d jobs fitted", fitted)
	}
	other := make(chan struct{})
	if !q.Add("bob", func(context.Context) { close(other) }) {
		t.Error("another user's job did not fit")
	}
	<-other // while ada's wait
	close(release)
	q.Close(t.Context())
	if len(order) != fitted || !slices.IsSorted(order) {
		t.Errorf("done: %v", order)
	}
	if q.Add("ada", func(context.Context) {}) {
		t.Error("a closed queue takes jobs")
	}
	new(memory.Queue).Close(t.Context())
}

// When the time of the end is over, so is that of the jobs.
func TestQueueDoesNotWaitForEver(t *testing.T) {
	q := new(memory.Queue)
	var causes []error
	for range 2 {
		q.Add("ada", func(ctx context.Context) {
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx))
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q.Close(ctx)
	if len(causes) > 1 {
		t.Errorf("jobs were begun after the end: %v", causes)
	}
}

func TestKey(t *testing.T) {
	for _, same := range [][2]string{
		{"My editor is vim.", "my EDITOR is  vim"}, {"The disk of web-01", "disk of a web 01"}, {"Größe: 5", "größe 5"},
	} {
		a, b := memory.Entry{Text: same[0]}, memory.Entry{Text: same[1]}
		if a.Key() != b.Key() {
			t.Errorf("%q and %q: got %q and %q", same[0], same[1], a.Key(), b.Key())
		}
	}
	a, b := memory.Entry{Text: "the prompt is off"}, memory.Entry{Text: "the prompt is not off"}
	if a.Key() == b.Key() {
		t.Error("what is denied says the same as what is not")
	}
}

func TestAsked(t *testing.T) {
	for _, tc := range []struct {
		task string
		want []string
	}{
		{"How full are the disks on Web01?", []string{"full", "disks", "web01"}},
		{"Wie voll sind die Platten auf web01, und auf web01?", []string{"voll", "platten", "web01"}},
		{"is it?", nil},
		{strings.Repeat("w ", 10_000) + strings.Repeat("x", 100) + " end", []string{"w", "end"}},
	} {
		if diff := cmp.Diff(tc.want, memory.Asked(tc.task)); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", tc.task, diff)
		}
	}
}
