package statetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// said are the texts of the messages where a thread stands.
func said(t *testing.T, s agents.Store, thread string) []string {
	t.Helper()
	messages, err := s.Messages(t.Context(), thread, -1)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, m := range messages {
		texts = append(texts, m.Content)
	}
	return texts
}

func branches(t *testing.T, s agents.Store) {
	ctx := t.Context()
	th := thread(t, s, "ada", now)
	first := run(t, th.ID)
	create(t, s, first, nil)
	finish(t, s, first, "one")
	fork := run(t, th.ID)
	before := tree.Root
	fork.Follows = &before
	create(t, s, fork, nil)
	if got, want := said(t, s, th.ID), []string{"hello"}; !cmp.Equal(got, want) {
		t.Errorf("under way: got %q, want %q", got, want)
	}
	finish(t, s, fork, "two")
	if got, want := said(t, s, th.ID), []string{"hello", "two"}; !cmp.Equal(got, want) {
		t.Errorf("the fork: got %q, want %q", got, want)
	}
	next := run(t, th.ID)
	create(t, s, next, nil)
	if next.Follows == nil || *next.Follows != 3 || next.Base != 4 {
		t.Errorf("the next run follows %v, its base is %d, want 3 and 4", next.Follows, next.Base)
	}
	finish(t, s, next, "three")
	if got, want := said(t, s, th.ID), []string{"hello", "two", "hello", "three"}; !cmp.Equal(got, want) {
		t.Errorf("after the fork: got %q, want %q", got, want)
	}
	if messages, err := s.Messages(ctx, th.ID, 2); err != nil || len(messages) != 2 || messages[1].Content != "one" {
		t.Errorf("the other branch: got %v, %v", messages, err)
	}
	if err := s.RollBack(ctx, fork.ID); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("taking back what others follow: got %v, want %v", err, agents.ErrBusy)
	}
	if err := s.RollBack(ctx, next.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := said(t, s, th.ID), []string{"hello", "two"}; !cmp.Equal(got, want) {
		t.Errorf("taken back: got %q, want %q", got, want)
	}
	if info, err := s.RunInfo(ctx, next.ID); err != nil || !info.Hidden {
		t.Errorf("got %+v, %v, want it hidden", info, err)
	}
	tr, err := s.Tree(ctx, th.ID)
	if err != nil || len(tr.Writes) != 4 || tr.Head != 3 || tr.Writes[2].Parent != tree.Root || tr.Writes[2].Source != tree.Input || tr.Writes[3].Run != fork.ID {
		t.Errorf("got %+v, %v", tr, err)
	}
	to := agents.Thread{ID: id(t), Owner: "ada", Created: now, Updated: now, Status: agents.ThreadIdle}
	if err := s.CopyThread(ctx, th.ID, to); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Tree(ctx, to.ID); err != nil || !cmp.Equal(got, tr) {
		t.Errorf("the copy: %v, %s", err, cmp.Diff(tr, got))
	}
	if err := s.Prune(ctx, th.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := said(t, s, th.ID), []string{"hello", "two"}; !cmp.Equal(got, want) {
		t.Errorf("pruned: got %q, want %q", got, want)
	}
	if pruned, err := s.Tree(ctx, th.ID); err != nil || len(pruned.Writes) != 2 || pruned.Floor != 6 {
		t.Errorf("pruned: got %+v, %v", pruned, err)
	}
}

func writes(t *testing.T, s agents.Store) {
	ctx := t.Context()
	th := thread(t, s, "ada", now)
	m := model.Message{ID: "m", Role: "user", Content: "hello"}
	set := tree.Change{Values: map[string]any{"topic": "tea"}}
	list := []tree.Write{
		{Created: now, Source: tree.Update, Message: &m},
		{Created: now, Source: tree.Update, Change: set},
	}
	if first, err := s.Write(ctx, th.ID, tree.Root, 0, list); err != nil || first != 0 {
		t.Fatalf("Write: %d, %v", first, err)
	}
	if _, err := s.Write(ctx, th.ID, 1, 0, list); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("with another number of writes: got %v, want %v", err, agents.ErrConflict)
	}
	for _, tc := range []struct {
		name   string
		filter agents.ThreadFilter
		want   int
	}{
		{"values", agents.ThreadFilter{Values: map[string]any{"topic": "tea"}, Limit: 5}, 1},
		{"other values", agents.ThreadFilter{Values: map[string]any{"topic": "coffee"}, Limit: 5}, 0},
	} {
		if _, n, err := s.Threads(ctx, tc.filter); err != nil || n != tc.want {
			t.Errorf("%s: got %d, %v, want %d", tc.name, n, err, tc.want)
		}
	}
	if _, err := s.Write(ctx, th.ID, 1, 2, []tree.Write{{Created: now, Change: tree.Change{Remove: []string{"m"}}}}); err != nil {
		t.Fatal(err)
	}
	if got := said(t, s, th.ID); len(got) != 0 {
		t.Errorf("got %q, want nothing", got)
	}
	create(t, s, run(t, th.ID), nil)
	if _, err := s.Write(ctx, th.ID, 3, 4, list); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("while a run has the thread: got %v, want %v", err, agents.ErrBusy)
	}
	if _, err := s.Write(ctx, id(t), 3, 4, list); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("of no thread: got %v, want %v", err, agents.ErrThreadNotFound)
	}
}

func queueing(t *testing.T, s agents.Store) {
	ctx := t.Context()
	th := thread(t, s, "ada", now)
	active := run(t, th.ID)
	create(t, s, active, nil)
	wait := func(due time.Time) *agents.Run {
		r := run(t, th.ID)
		r.Multitask, r.Created = agents.MultitaskEnqueue, due
		create(t, s, r, nil)
		if !r.Queued || r.Status != agents.Pending {
			t.Fatalf("got %s, queued=%t, want it to wait", r.Status, r.Queued)
		}
		return r
	}
	second, third := wait(now.Add(time.Second)), wait(now.Add(2*time.Second))
	later := now.Add(time.Hour)
	turn := func(want ...string) {
		t.Helper()
		got, err := s.Queue(ctx, later, 10)
		if err != nil || len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	turn()
	start := func(r *agents.Run) error {
		r.Status, r.Queued, r.Updated = agents.Running, false, now
		return s.StartRun(ctx, r, r.Frames[0].Messages)
	}
	finish(t, s, active, "one")
	if !active.More {
		t.Error("the end of a run does not tell that others wait")
	}
	turn(second.ID)
	if err := start(third); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("out of turn: got %v, want %v", err, agents.ErrBusy)
	}
	fresh := run(t, th.ID)
	fresh.Created = later
	if err := s.CreateRun(ctx, fresh, nil, nil); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("pushing in: got %v, want %v", err, agents.ErrBusy)
	}
	if err := start(second); err != nil || second.Base != 2 {
		t.Fatalf("got %v, base %d", err, second.Base)
	}
	turn()
	finish(t, s, second, "two")
	turn(third.ID)
	third.Queued = true
	third.Status = agents.Cancelled
	if err := s.FinishRun(ctx, third, nil, nil); err != nil { // it never began
		t.Fatal(err)
	}
	if got, want := said(t, s, th.ID), []string{"hello", "one", "hello", "two"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, err := s.Thread(ctx, th.ID); err != nil || got.Status != agents.ThreadIdle || got.Messages != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	due := run(t, th.ID)
	due.Queued, due.Due = true, later
	create(t, s, due, nil)
	if at, err := s.NextDue(ctx, now); err != nil || !at.Equal(later) {
		t.Errorf("next due: got %v, %v, want %v", at, err, later)
	}
	if got, err := s.Queue(ctx, later.Add(-time.Minute), 10); err != nil || len(got) != 0 {
		t.Errorf("before its time: got %v, %v", got, err)
	}
	turn(due.ID)
	if stale, err := s.StaleThreads(ctx, false, later, 10); err != nil || len(stale) != 0 {
		t.Errorf("a thread that a run waits for is old: %v, %v", stale, err)
	}
	if err := s.DeleteThread(ctx, th.ID, time.Time{}); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("deleting it: got %v, want %v", err, agents.ErrBusy)
	}
	for i := 1; ; i++ {
		r := run(t, th.ID)
		r.Queued, r.Due = true, later
		if err := s.CreateRun(ctx, r, nil, nil); errors.Is(err, agents.ErrQueueFull) && i == agents.MaxQueued {
			break
		} else if err != nil || i == agents.MaxQueued {
			t.Fatalf("run %d that waits: got %v", i, err)
		}
	}
}

func requests(t *testing.T, s agents.Store) {
	ctx := t.Context()
	th := thread(t, s, "ada", now)
	r := run(t, th.ID)
	r.Request, r.Metadata, r.Kwargs = "key", map[string]any{"a": 1.0}, []byte(`{"x":1}`)
	create(t, s, r, nil)
	again := run(t, th.ID)
	again.Request = "key"
	if err := s.CreateRun(ctx, again, nil, nil); !errors.Is(err, agents.ErrRequested) {
		t.Errorf("again: got %v, want %v", err, agents.ErrRequested)
	}
	if got, err := s.Requested(ctx, "key"); err != nil || got.ID != r.ID {
		t.Errorf("got %v, %v, want %s", got, err, r.ID)
	}
	if _, err := s.Requested(ctx, "other"); !errors.Is(err, agents.ErrRunNotFound) {
		t.Errorf("of no request: got %v, want %v", err, agents.ErrRunNotFound)
	}
	if err := s.RemoveRun(ctx, r.ID); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("removing it: got %v, want %v", err, agents.ErrBusy)
	}
	r.Status, r.Failure = agents.Error, &agents.Failure{Code: "broken", Message: "it broke"}
	if err := s.FinishRun(ctx, r, nil, []eventlog.Event{{Type: eventlog.Done}}); err != nil {
		t.Fatal(err)
	}
	info, err := s.RunInfo(ctx, r.ID)
	if err != nil || info.Failure == nil || *info.Failure != *r.Failure || !cmp.Equal(info.Metadata, r.Metadata) || string(info.Kwargs) != `{"x":1}` {
		t.Errorf("got %+v, %v", info, err)
	}
	if err := s.RemoveRun(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RunInfo(ctx, r.ID); !errors.Is(err, agents.ErrRunNotFound) {
		t.Errorf("got %v, want %v", err, agents.ErrRunNotFound)
	}
	if n, err := s.NextEvent(ctx, r.ID); err != nil || n != 0 {
		t.Errorf("%d events are left, %v", n, err)
	}
}

func filtering(t *testing.T, s agents.Store) {
	ctx := t.Context()
	var ids []string
	for i, metadata := range []map[string]any{
		{"a": 1.0, "deep": map[string]any{"x": "y", "z": true}, "list": []any{"p", "q"}},
		{"a": "1", "none": nil},
		{"it's": `"quoted" ? $.a`, "": "empty"},
	} {
		th := agents.Thread{ID: id(t), Owner: "ada", Created: now.Add(time.Duration(-i) * time.Hour), Updated: now.Add(time.Duration(i) * time.Hour), Status: agents.ThreadIdle, Metadata: metadata}
		if i == 1 {
			th.TTL = time.Minute
		}
		if err := s.CreateThread(ctx, th); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, th.ID)
	}
	for _, tc := range []struct {
		name   string
		filter agents.ThreadFilter
		want   []int
	}{
		{"a number", agents.ThreadFilter{Metadata: map[string]any{"a": 1}}, []int{0}},
		{"a string", agents.ThreadFilter{Metadata: map[string]any{"a": "1"}}, []int{1}},
		{"within", agents.ThreadFilter{Metadata: map[string]any{"deep": map[string]any{"z": true}}}, []int{0}},
		{"within, another", agents.ThreadFilter{Metadata: map[string]any{"deep": map[string]any{"z": false}}}, nil},
		{"a list", agents.ThreadFilter{Metadata: map[string]any{"list": []any{"q"}}}, []int{0}},
		{"a longer list", agents.ThreadFilter{Metadata: map[string]any{"list": []any{"q", "r"}}}, nil},
		{"null", agents.ThreadFilter{Metadata: map[string]any{"none": nil}}, []int{1}},
		{"signs", agents.ThreadFilter{Metadata: map[string]any{"it's": `"quoted" ? $.a`, "": "empty"}}, []int{2}},
		{"an empty name in the filter", agents.ThreadFilter{Metadata: map[string]any{"deep": map[string]any{"": "y"}}}, nil},
		{"ids", agents.ThreadFilter{IDs: []string{ids[0], ids[2], "x"}}, []int{2, 0}},
		{"no ids", agents.ThreadFilter{IDs: []string{}}, nil},
		{"created", agents.ThreadFilter{SortBy: agents.SortCreated}, []int{0, 1, 2}},
		{"id, ascending", agents.ThreadFilter{SortBy: agents.SortID, Ascending: true}, []int{0, 1, 2}},
		{"updated", agents.ThreadFilter{}, []int{2, 1, 0}},
	} {
		tc.filter.Limit = 10
		list, total, err := s.Threads(ctx, tc.filter)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got, want []string
		for _, th := range list {
			got = append(got, th.ID)
		}
		for _, i := range tc.want {
			want = append(want, ids[i])
		}
		if !cmp.Equal(got, want) || total != len(want) {
			t.Errorf("%s: got %v of %d, want %v", tc.name, got, total, want)
		}
	}
	deep := map[string]any{}
	for range 20 {
		deep = map[string]any{"a": deep}
	}
	for _, f := range []agents.ThreadFilter{{SortBy: "owner"}, {Metadata: deep}} {
		if _, _, err := s.Threads(ctx, f); err == nil {
			t.Errorf("%+v: there is no error", f)
		} else if _, ok := errors.AsType[*agents.FieldError](err); !ok {
			t.Errorf("%+v: got %v", f, err)
		}
	}
	if got, err := s.ExpiredThreads(ctx, now.Add(time.Hour+2*time.Minute), 10); err != nil || !cmp.Equal(got, ids[1:2]) {
		t.Errorf("expired: got %v, %v, want %v", got, err, ids[1:2])
	}
	if got, err := s.ExpiredThreads(ctx, now.Add(time.Hour), 10); err != nil || len(got) != 0 {
		t.Errorf("expired too early: got %v, %v", got, err)
	}
}
