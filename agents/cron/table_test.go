package cron_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
)

var (
	ada  = policy.Principal{User: "ada", Role: policy.User, Source: policy.SourceToken, TokenID: "t1", RequestID: "r1"}
	bob  = policy.Principal{User: "bob", Role: policy.User}
	root = policy.Principal{User: "root", Role: policy.Admin}
)

// fixture is a table on a real store, with a clock, users and a starter that the test moves.
type fixture struct {
	*cron.Table
	store *state.Store
	log   *audit.Log
	mu    sync.Mutex
	time  time.Time

	role    policy.Role // of everybody; empty: as it was
	gone    error       // why nobody may act
	refused error       // why no run is started
	started []cron.Cron
	actors  []policy.Principal
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &fixture{store: s, log: audittest.Open(t, filepath.Join(t.TempDir(), "audit.db")), time: time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)}
	f.Table = f.another()
	return f
}

// another is a table of another process on the same store. It serves by the calls of Fire alone.
func (f *fixture) another() *cron.Table {
	t := cron.Open(cron.Config{Store: f.store, Audit: f.log, Identity: f, Log: zap.NewNop(), Now: func() time.Time {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.time
	}})
	t.Close()
	t.Serve(f)
	return t
}

func (f *fixture) Resolve(_ context.Context, p policy.Principal) (policy.Principal, error) {
	if f.role != "" {
		p.Role = f.role
	}
	return p, f.gone
}

func (f *fixture) ActFor(_ context.Context, p policy.Principal, _ string) (policy.Principal, error) {
	return p, nil
}

func (f *fixture) StartCron(_ context.Context, p policy.Principal, c cron.Cron) (run, thread string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused != nil {
		return "", "", f.refused
	}
	f.started, f.actors = append(f.started, c), append(f.actors, p)
	return fmt.Sprintf("run-%d", len(f.started)), "thread", nil
}

func (f *fixture) create(t *testing.T, p policy.Principal, schedule string) cron.Cron {
	t.Helper()
	c, err := f.Create(t.Context(), p, cron.Cron{Assistant: "core", Schedule: schedule, Enabled: true, Payload: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at moves the clock and starts what is due.
func (f *fixture) at(t *testing.T, clock string) {
	t.Helper()
	now, err := time.Parse("02 15:04:05", clock)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.time = now.AddDate(2026-now.Year(), 2, 0)
	f.mu.Unlock()
	if err := f.Fire(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) runs(t *testing.T, want int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.started) != want {
		t.Fatalf("%d runs were started, want %d", len(f.started), want)
	}
}

func (f *fixture) get(t *testing.T, id string) cron.Cron {
	t.Helper()
	c, err := f.Get(t.Context(), root, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRunsAreStartedWhenDue(t *testing.T) {
	f := newFixture(t)
	c := f.create(t, ada, "*/10 * * * *")
	f.at(t, "01 12:09:59")
	f.runs(t, 0)
	f.at(t, "01 12:10:00")
	f.runs(t, 1)
	f.at(t, "01 12:10:01")
	f.runs(t, 1)
	f.at(t, "01 12:20:00")
	f.runs(t, 2)
	got := f.get(t, c.ID)
	if got.Last.Status != cron.Started || got.Last.Run != "run-2" || got.Next.Format("15:04") != "12:30" {
		t.Errorf("got %+v", got)
	}
	if p := f.actors[0]; p.User != "ada" || p.TokenID != "t1" || p.RequestID != "" {
		t.Errorf("the run acts for %+v", p)
	}
	if e := audittest.Events(t, f.log, audit.Filter{}, audit.Cron); len(e) != 2 || e[0].Run != "run-1" || e[0].User != "ada" || e[0].Status != "started" || !strings.Contains(e[0].Input, c.ID) {
		t.Errorf("on record: %+v", e)
	}
}

// Times that passed while nobody was there are made up for by one run.
func TestMissedTimesGiveOneRun(t *testing.T) {
	f := newFixture(t)
	c := f.create(t, ada, "*/10 * * * *")
	f.at(t, "03 15:55:00")
	f.runs(t, 1)
	if got := f.get(t, c.ID); got.Last.Due.Format("02 15:04") != "01 12:10" || got.Next.Format("02 15:04") != "03 16:00" {
		t.Errorf("got %+v", got)
	}
}

func TestEnd(t *testing.T) {
	f := newFixture(t)
	end := f.time.Add(15 * time.Minute)
	c, err := f.Create(t.Context(), ada, cron.Cron{Schedule: "*/10 * * * *", Enabled: true, End: end})
	if err != nil {
		t.Fatal(err)
	}
	missed, err := f.Create(t.Context(), ada, cron.Cron{Schedule: "14 12 * * *", Enabled: true, End: end})
	if err != nil {
		t.Fatal(err)
	}
	f.at(t, "01 12:10:00")
	f.runs(t, 1)
	if got := f.get(t, c.ID); !got.Next.IsZero() {
		t.Errorf("it is due at %s, after its end", got.Next)
	}
	f.at(t, "01 13:00:00")
	f.runs(t, 1)
	if got := f.get(t, missed.ID); got.Last.Status != cron.Skipped || got.Last.Code != "over" {
		t.Errorf("got %+v", got.Last)
	}
}

// A time that has given a run gives none again where a clock is behind: neither when the cron is changed there, nor by
// itself.
func TestClocksThatAreBehind(t *testing.T) {
	f := newFixture(t)
	c := f.create(t, ada, "*/10 * * * *")
	f.at(t, "01 12:10:00")
	f.runs(t, 1)
	f.at(t, "01 12:09:30")
	off, on := false, true
	for _, enabled := range []*bool{&off, &on} {
		var err error
		if c, err = f.Update(t.Context(), ada, c.ID, cron.Patch{Enabled: enabled}); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Next.Format("15:04"); got != "12:20" {
		t.Errorf("the next time is %s, want 12:20", got)
	}
	f.at(t, "01 12:10:00")
	f.runs(t, 1)
	f.at(t, "01 12:20:00")
	f.runs(t, 2)
}

// Of many processes that find a cron due, one starts its run.
func TestOneOfAFleetStartsTheRun(t *testing.T) {
	f := newFixture(t)
	for range 5 {
		f.create(t, ada, "* * * * *")
	}
	f.time = f.time.Add(time.Minute)
	var wg sync.WaitGroup
	for range 8 {
		node := f.another()
		wg.Go(func() {
			if err := node.Fire(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.runs(t, 5)
}

// What was missed while nobody was there is made up for once, also when several processes come back together.
func TestAFleetMakesUpOnce(t *testing.T) {
	f := newFixture(t)
	c := f.create(t, ada, "*/10 * * * *")
	f.time = f.time.Add(50 * time.Hour)
	var wg sync.WaitGroup
	for range 8 {
		node := f.another()
		wg.Go(func() {
			for range 3 {
				if err := node.Fire(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.runs(t, 1)
	if got := f.get(t, c.ID); got.Last.Due.Format("02 15:04") != "01 12:10" || !got.Next.After(f.time) {
		t.Errorf("got %+v", got)
	}
}

// Whoever may not act any more, or may do less, has no run; what is only in the way passes.
func TestWhatBecomesOfACron(t *testing.T) {
	for _, tc := range []struct {
		name   string
		set    func(*fixture)
		status cron.Status
		code   string
		on     bool
	}{
		{"removed user", func(f *fixture) { f.gone = fmt.Errorf("ada: %w", policy.ErrRevoked) }, cron.Refused, "principal_revoked", false},
		{"expired token", func(f *fixture) { f.gone = policy.ErrExpired }, cron.Refused, "principal_expired", false},
		{"demoted user", func(f *fixture) { f.role = policy.Readonly }, cron.Refused, "principal_demoted", false},
		{"promoted user", func(f *fixture) { f.role = policy.Admin }, cron.Started, "", true},
		{"users unknown now", func(f *fixture) { f.gone = errors.New("broken on purpose") }, cron.Failed, "internal", true},
		{"thread deleted", func(f *fixture) { f.refused = agents.ErrThreadNotFound }, cron.Refused, "thread_not_found", false},
		{"assistant deleted", func(f *fixture) { f.refused = agents.ErrUnknownAssistant }, cron.Refused, "unknown_assistant", false},
		{"webhook not allowed any more", func(f *fixture) { f.refused = agents.ErrWebhook }, cron.Refused, "webhook_forbidden", false},
		{"thread busy", func(f *fixture) { f.refused = agents.ErrBusy }, cron.Skipped, "thread_busy", true},
		{"many runs", func(f *fixture) { f.refused = &agents.LimitError{Limit: "x"} }, cron.Skipped, "too_many_runs", true},
		{"storage away", func(f *fixture) { f.refused = agents.ErrUnavailable }, cron.Failed, "unavailable", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			c := f.create(t, ada, "* * * * *")
			tc.set(f)
			f.at(t, "01 12:01:00")
			got := f.get(t, c.ID)
			if got.Last.Status != tc.status || got.Last.Code != tc.code || got.Enabled != tc.on || got.Next.IsZero() == tc.on {
				t.Errorf("got %+v, enabled %v, next %s", got.Last, got.Enabled, got.Next)
			}
			e := audittest.Events(t, f.log, audit.Filter{}, audit.Cron)
			if len(e) != 1 || e[0].Status != string(tc.status) || (e[0].Decision == string(policy.Deny)) != (tc.status == cron.Refused) {
				t.Errorf("on record: %+v", e)
			}
			if tc.on {
				return
			}
			f.role, f.gone, f.refused = "", nil, nil
			f.at(t, "01 12:05:00")
			f.runs(t, 0)
			on := true
			if _, err := f.Update(t.Context(), ada, c.ID, cron.Patch{Enabled: &on}); err != nil {
				t.Fatal(err)
			}
			f.at(t, "01 12:06:00")
			f.runs(t, 1)
		})
	}
}

func TestUpdate(t *testing.T) {
	f := newFixture(t)
	c := f.create(t, ada, "* * * * *")
	schedule, zone, off := "0 9 * * *", "Europe/Berlin", false
	got, err := f.Update(t.Context(), ada, c.ID, cron.Patch{Schedule: &schedule, Timezone: &zone, Metadata: map[string]any{"a": 1.0}})
	if err != nil || got.Next.Format("02 15:04") != "02 08:00" || got.Metadata["a"] != 1.0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err = f.Update(t.Context(), root, c.ID, cron.Patch{Enabled: &off}); err != nil || !got.Next.IsZero() || got.Principal.User != "ada" {
		t.Errorf("switched off by an admin: %+v, %v", got, err)
	}
	stronger := ada
	stronger.TokenID = "t2"
	if got, err = f.Update(t.Context(), stronger, c.ID, cron.Patch{}); err != nil || got.Principal.TokenID != "t2" {
		t.Errorf("with another token: %+v, %v", got.Principal, err)
	}
	end := f.time.Add(-time.Second)
	on := true
	_, err = f.Update(t.Context(), ada, c.ID, cron.Patch{End: &end, Enabled: &on})
	if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != "end_time" {
		t.Errorf("an end that is over: %v", err)
	}
	often := "* * * * * *"
	_, err = f.Update(t.Context(), ada, c.ID, cron.Patch{Schedule: &often})
	if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != "schedule" {
		t.Errorf("every second: %v", err)
	}
	never := "0 0 30 2 *"
	_, err = f.Update(t.Context(), ada, c.ID, cron.Patch{Schedule: &never})
	if fault, ok := errors.AsType[*agents.FieldError](err); !ok || !strings.Contains(fault.Message, "never") {
		t.Errorf("on a day that there is not: %v", err)
	}
}

func TestIsolation(t *testing.T) {
	f := newFixture(t)
	c := f.create(t, ada, "* * * * *")
	_, get := f.Get(t.Context(), bob, c.ID)
	_, update := f.Update(t.Context(), bob, c.ID, cron.Patch{})
	for what, err := range map[string]error{"Get": get, "Update": update, "Delete": f.Delete(t.Context(), bob, c.ID)} {
		if !errors.Is(err, cron.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", what, err, cron.ErrNotFound)
		}
	}
	for _, filter := range []cron.Filter{{Limit: 10}, {Limit: 10, Owner: "ada"}} {
		if page, total, err := f.Search(t.Context(), bob, filter); err != nil || total != 0 || len(page) != 0 {
			t.Errorf("%+v: bob sees %v, %v", filter, page, err)
		}
	}
	if n := len(audittest.Events(t, f.log, audit.Filter{}, audit.PermissionDenied)); n != 4 {
		t.Errorf("%d of 4 attempts are on record", n)
	}
	if n, err := f.Count(t.Context(), root, cron.Filter{}); err != nil || n != 1 {
		t.Errorf("root counts %d, %v", n, err)
	}
	if err := f.Delete(t.Context(), ada, c.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), ada, c.ID); !errors.Is(err, cron.ErrNotFound) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSearch(t *testing.T) {
	f := newFixture(t)
	first := f.create(t, ada, "0 1 * * *")
	second, err := f.Create(t.Context(), ada, cron.Cron{Assistant: "quick", Thread: "t", Schedule: "0 0 * * *", Metadata: map[string]any{"a": 1.0}})
	if err != nil {
		t.Fatal(err)
	}
	off := false
	for _, tc := range []struct {
		name string
		f    cron.Filter
		want []string
	}{
		{"newest first", cron.Filter{}, []string{second.ID, first.ID}},
		{"by time", cron.Filter{SortBy: "next_run_date", Ascending: true}, []string{second.ID, first.ID}},
		{"of an assistant", cron.Filter{Assistant: "core"}, []string{first.ID}},
		{"of a thread", cron.Filter{Thread: "t"}, []string{second.ID}},
		{"switched off", cron.Filter{Enabled: &off}, []string{second.ID}},
		{"with metadata", cron.Filter{Metadata: map[string]any{"a": 1.0}}, []string{second.ID}},
		{"a page", cron.Filter{Offset: 1}, []string{first.ID}},
	} {
		tc.f.Limit = 10
		page, _, err := f.Search(t.Context(), ada, tc.f)
		var ids []string
		for _, c := range page {
			ids = append(ids, c.ID)
		}
		if err != nil || strings.Join(ids, " ") != strings.Join(tc.want, " ") {
			t.Errorf("%s: got %v, %v, want %v", tc.name, ids, err, tc.want)
		}
	}
	for field, filter := range map[string]cron.Filter{"limit": {}, "offset": {Limit: 1, Offset: -1}, "sort_by": {Limit: 1, SortBy: "x"}} {
		_, _, err := f.Search(t.Context(), ada, filter)
		if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != field {
			t.Errorf("%+v: got %v, want an error about %s", filter, err, field)
		}
	}
}
