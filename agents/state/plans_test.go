package state_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/internal/store"
)

// plans opens a new database and returns a function that explains a query in it: its steps.
func plans(t *testing.T) func(query string, args ...any) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := state.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	db, err := store.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return func(query string, args ...any) (plan []string) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return plan
	}
}

// Queries that are asked again and again do not read whole tables, however many arguments they have: the
// plan is the same for all.
func TestQueriesUseIndexes(t *testing.T) {
	explain := plans(t)
	type query struct {
		text string
		args int
		want string // in the plan
	}
	queries := map[string]query{}
	for name, args := range map[string]struct {
		n    int
		want string
	}{
		"queue": {2, "runs_due"}, "next due": {1, "runs_due"}, "request": {1, "runs_request"}, "other runs": {1, "runs_"}, "queued": {1, "runs_"},
		"hold thread": {1, "runs_queued"}, "expired threads": {2, "threads_expiry"}, "writes": {2, "messages"}, "past": {3, "messages"},
		"item": {3, "sqlite_autoindex_items"}, "item owners": {4, "items_named"}, "item totals": {1, "PRIMARY KEY"},
		"sweep items": {2, "items_expire"}, "renew item": {4, "sqlite_autoindex_items"},
		"assistants of": {1, "assistants_owner"}, "assistant": {1, "sqlite_autoindex_assistants"}, "versions": {1, "sqlite_autoindex_assistant_versions"},
		"crons due": {2, "crons_due"}, "crons of": {1, "crons_owner"},
	} {
		queries[name] = query{state.Queries[name], args.n, args.want}
	}
	if len(queries) != len(state.Queries) {
		t.Errorf("%d of %d queries are looked at", len(queries), len(state.Queries))
	}
	all, args := state.ItemsQuery("ada", nil, time.Now())
	queries["items of a user"] = query{all, len(args), "items_recent"}
	below, args := state.ItemsQuery("ada", []string{"a"}, time.Now())
	queries["items below a prefix"] = query{below, len(args), "items"}
	for name, q := range queries {
		args := make([]any, q.args)
		for i := range args {
			args[i] = i
		}
		plan := explain(q.text, args...)
		text := strings.Join(plan, "; ")
		if !strings.Contains(text, q.want) {
			t.Errorf("%s: the plan is %s, want %s in it", name, text, q.want)
		}
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") && step != "SCAN CONSTANT ROW" {
				t.Errorf("%s reads a whole table: %s", name, text)
			}
		}
	}
}

// A page of threads is read in the order of an index.
func TestThreadsAreFoundByIndex(t *testing.T) {
	explain := plans(t)
	for _, tc := range []struct {
		filter agents.ThreadFilter
		index  string
	}{
		{agents.ThreadFilter{}, "threads_updated"},
		{agents.ThreadFilter{Owner: "ada"}, "threads_listed"},
		{agents.ThreadFilter{SortBy: agents.SortCreated}, "threads_created"},
		{agents.ThreadFilter{SortBy: agents.SortCreated, Owner: "ada", Ascending: true}, "threads_made"},
	} {
		query, args, err := state.ThreadsQuery(tc.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(explain(query+" LIMIT 10", args...), "; "); !strings.Contains(got, tc.index) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%+v: the plan is %s, want %s in it and nothing sorted", tc.filter, got, tc.index)
		}
	}
}
