package assistant_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
)

var (
	ada  = policy.Principal{User: "ada", Role: policy.User}
	bob  = policy.Principal{User: "bob", Role: policy.User}
	root = policy.Principal{User: "root", Role: policy.Admin}
)

type fixture struct {
	*assistant.Catalog
	log *audit.Log
	now time.Time
}

func builtin() []agents.Agent {
	return []agents.Agent{{Name: "audit"}, {Name: "core"}, {Name: "quick"}, {Name: agents.Default, Delegates: []string{"core", "audit"}}}
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &fixture{log: audittest.Open(t, filepath.Join(t.TempDir(), "audit.db")), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	f.Catalog = assistant.New(assistant.Config{Store: s, Audit: f.log, Graphs: builtin, Now: func() time.Time {
		f.now = f.now.Add(time.Second)
		return f.now
	}})
	return f
}

func (f *fixture) create(t *testing.T, p policy.Principal, a assistant.Assistant) assistant.Assistant {
	t.Helper()
	made, err := f.Create(t.Context(), p, a, false)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// The ids are those of public servers for a graph of this name.
func TestID(t *testing.T) {
	if got, want := assistant.ID("agent"), "fe096781-5601-53d2-b2f6-0d3403f7e9ca"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheServicesOwn(t *testing.T) {
	f := newFixture(t)
	byName, err := f.Get(t.Context(), ada, "core")
	if err != nil {
		t.Fatal(err)
	}
	byID, err := f.Get(t.Context(), bob, strings.ToUpper(assistant.ID("core")))
	if err != nil || !cmp.Equal(byName, byID) || !byID.System() || byID.Graph != "core" {
		t.Errorf("by id %+v, %v, by name %+v", byID, err, byName)
	}
	name := "mine"
	_, update := f.Update(t.Context(), root, "core", assistant.Patch{Name: &name})
	_, taken := f.Create(t.Context(), ada, assistant.Assistant{ID: byID.ID, Graph: "core"}, false)
	_, latest := f.SetLatest(t.Context(), ada, "core", 2)
	for what, tc := range map[string]struct{ got, want error }{
		"Update": {update, assistant.ErrReadOnly}, "Delete": {f.Delete(t.Context(), root, byID.ID), assistant.ErrReadOnly},
		"Create": {taken, assistant.ErrExists}, "SetLatest": {latest, assistant.ErrVersionNotFound},
	} {
		if !errors.Is(tc.got, tc.want) {
			t.Errorf("%s: got %v, want %v", what, tc.got, tc.want)
		}
	}
	if a, err := f.SetLatest(t.Context(), ada, "core", 1); err != nil || a.Version != 1 {
		t.Errorf("the version that it has: %v", err)
	}
	if a, err := f.Create(t.Context(), ada, assistant.Assistant{ID: byID.ID, Graph: "core"}, true); err != nil || a.ID != byID.ID {
		t.Errorf("reused: %+v, %v", a, err)
	}
	if vs, err := f.Versions(t.Context(), ada, "core", nil, 10, 0); err != nil || len(vs) != 1 {
		t.Errorf("versions: %v, %v", vs, err)
	}
}

func TestOwnAssistant(t *testing.T) {
	f := newFixture(t)
	a := f.create(t, ada, assistant.Assistant{Graph: "core", Metadata: map[string]any{"team": "x", "n": 1.0}})
	if a.Name != "core" || a.Version != 1 || a.Owner != "ada" {
		t.Errorf("got %+v", a)
	}
	name := "second"
	b, err := f.Update(t.Context(), ada, a.ID, assistant.Patch{Name: &name, Metadata: map[string]any{"n": 2.0}})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"team": "x", "n": 2.0}; b.Version != 2 || b.Name != "second" || !cmp.Equal(b.Metadata, want) || !b.Updated.After(a.Updated) {
		t.Errorf("got %+v", b)
	}
	if vs, err := f.Versions(t.Context(), ada, a.ID, map[string]any{"n": 1.0}, 10, 0); err != nil || len(vs) != 1 || vs[0].Version != 1 {
		t.Errorf("the version with this metadata: %+v, %v", vs, err)
	}
	if vs, err := f.Versions(t.Context(), ada, a.ID, nil, 1, 1); err != nil || len(vs) != 1 || vs[0].Version != 1 {
		t.Errorf("the second page: %+v, %v", vs, err)
	}
	if c, err := f.SetLatest(t.Context(), ada, a.ID, 1); err != nil || c.Name != "core" {
		t.Errorf("back: %+v, %v", c, err)
	}
	if err := f.Delete(t.Context(), ada, a.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), ada, a.ID); !errors.Is(err, assistant.ErrNotFound) {
		t.Errorf("after the end: %v", err)
	}
}

func TestIsolation(t *testing.T) {
	f := newFixture(t)
	a := f.create(t, ada, assistant.Assistant{Graph: "core"})
	name := "his"
	_, get := f.Get(t.Context(), bob, a.ID)
	_, update := f.Update(t.Context(), bob, a.ID, assistant.Patch{Name: &name})
	_, versions := f.Versions(t.Context(), bob, a.ID, nil, 10, 0)
	_, latest := f.SetLatest(t.Context(), bob, a.ID, 1)
	deleted := f.Delete(t.Context(), bob, a.ID)
	for what, err := range map[string]error{"Get": get, "Update": update, "Versions": versions, "SetLatest": latest, "Delete": deleted} {
		if !errors.Is(err, assistant.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", what, err, assistant.ErrNotFound)
		}
	}
	if _, err := f.Create(t.Context(), bob, assistant.Assistant{ID: a.ID, Graph: "core"}, true); !errors.Is(err, assistant.ErrExists) {
		t.Errorf("Create: got %v", err)
	}
	if n := len(audittest.Events(t, f.log, audit.Filter{}, audit.PermissionDenied)); n != 6 {
		t.Errorf("%d of 6 attempts are on record", n)
	}
	if _, total, err := f.Search(t.Context(), bob, assistant.Filter{Limit: 10}); err != nil || total != len(builtin()) {
		t.Errorf("bob sees %d, %v", total, err)
	}
	if n, err := f.Count(t.Context(), bob, assistant.Filter{Owner: "ada"}); err != nil || n != 0 {
		t.Errorf("bob counts %d of ada's, %v", n, err)
	}
	if _, total, err := f.Search(t.Context(), root, assistant.Filter{Limit: 10}); err != nil || total != 1+len(builtin()) {
		t.Errorf("root sees %d, %v", total, err)
	}
	if got, err := f.Get(t.Context(), root, a.ID); err != nil || got.Owner != "ada" {
		t.Errorf("root's Get: %+v, %v", got, err)
	}
}

func TestSearch(t *testing.T) {
	f := newFixture(t)
	f.create(t, ada, assistant.Assistant{Graph: "core", Name: "Zebra", Metadata: map[string]any{"team": map[string]any{"name": "x", "n": 1.0}}})
	f.create(t, ada, assistant.Assistant{Graph: "quick", Name: "ant"})
	for _, tc := range []struct {
		name  string
		f     assistant.Filter
		want  string
		total int
	}{
		{"newest first", assistant.Filter{Limit: 2}, "ant Zebra", 6},
		{"by name", assistant.Filter{SortBy: "name", Ascending: true, Limit: 3}, "Zebra ant audit", 6},
		{"a page", assistant.Filter{SortBy: "name", Ascending: true, Limit: 2, Offset: 2}, "audit core", 6},
		{"of a graph", assistant.Filter{Graph: "quick", Limit: 10}, "ant quick", 2},
		{"with a part of the name", assistant.Filter{Name: "EBR", Limit: 10}, "Zebra", 1},
		{"with metadata", assistant.Filter{Metadata: map[string]any{"team": map[string]any{"name": "x"}}, Limit: 10}, "Zebra", 1},
		{"one's own", assistant.Filter{Owner: "ada", Limit: 10}, "ant Zebra", 2},
		{"beyond the end", assistant.Filter{Offset: 10, Limit: 10}, "", 6},
	} {
		page, total, err := f.Search(t.Context(), ada, tc.f)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var names []string
		for _, a := range page {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, " "); got != tc.want || total != tc.total {
			t.Errorf("%s: got %q of %d, want %q of %d", tc.name, got, total, tc.want, tc.total)
		}
	}
}

func TestBadInput(t *testing.T) {
	f := newFixture(t)
	for _, tc := range []struct {
		name  string
		a     assistant.Assistant
		field string
	}{
		{"no graph", assistant.Assistant{}, "graph_id"},
		{"an unknown graph", assistant.Assistant{Graph: "agent"}, "graph_id"},
		{"an id that is none", assistant.Assistant{Graph: "core", ID: "x"}, "assistant_id"},
		{"a long name", assistant.Assistant{Graph: "core", Name: strings.Repeat("x", 2000)}, "name"},
		{"large metadata", assistant.Assistant{Graph: "core", Metadata: map[string]any{"x": strings.Repeat("x", 100_000)}}, "metadata"},
		{"no step", assistant.Assistant{Graph: "core", Config: map[string]any{"recursion_limit": 0.0}}, "config.recursion_limit"},
		{"steps in words", assistant.Assistant{Graph: "core", Config: map[string]any{"recursion_limit": "ten"}}, "config.recursion_limit"},
		{"a list to configure", assistant.Assistant{Graph: "core", Config: map[string]any{"configurable": []any{}}}, "config.configurable"},
	} {
		_, err := f.Create(t.Context(), ada, tc.a, false)
		if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != tc.field {
			t.Errorf("%s: got %v, want an error about %s", tc.name, err, tc.field)
		}
	}
	for field, filter := range map[string]assistant.Filter{"limit": {}, "offset": {Limit: 1, Offset: -1}, "sort_by": {Limit: 1, SortBy: "owner"}} {
		_, _, err := f.Search(t.Context(), ada, filter)
		if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != field {
			t.Errorf("%+v: got %v, want an error about %s", filter, err, field)
		}
	}
}

// A run's own configuration counts, name by name.
func TestUnder(t *testing.T) {
	a := assistant.Assistant{
		Config:  map[string]any{"recursion_limit": 5.0, "tags": []any{"a"}, "configurable": map[string]any{"model": "x", "deep": true}},
		Context: map[string]any{"user": "ada", "place": "here"},
	}
	config, context := a.Under(map[string]any{"tags": []any{"b"}, "configurable": map[string]any{"model": "y"}}, map[string]any{"place": "there"})
	want := map[string]any{"recursion_limit": 5.0, "tags": []any{"b"}, "configurable": map[string]any{"model": "y", "deep": true}}
	if diff := cmp.Diff(want, config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"user": "ada", "place": "there"}, context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if a.Config["configurable"].(map[string]any)["model"] != "x" {
		t.Error("the assistant was changed")
	}
}

func TestSubgraphs(t *testing.T) {
	list := []agents.Agent{{Name: "a", Delegates: []string{"b", "c"}}, {Name: "b", Delegates: []string{"d", "a"}}, {Name: "c"}, {Name: "d"}}
	c := assistant.New(assistant.Config{Graphs: func() []agents.Agent { return list }})
	for _, tc := range []struct {
		graph string
		deep  bool
		want  map[string]string
	}{
		{"a", false, map[string]string{"tools": "b,c"}},
		{"a", true, map[string]string{"tools": "b,c", "tools|tools": "d"}},
		{"d", true, map[string]string{}},
	} {
		got := map[string]string{}
		for ns, s := range c.Subgraphs(tc.graph, tc.deep) {
			got[ns] = s.Graph
		}
		if !maps.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.graph, got, tc.want)
		}
	}
}

func TestDrawing(t *testing.T) {
	d := assistant.Draw()
	var names []string
	for _, n := range d.Nodes {
		names = append(names, n.ID)
	}
	for _, e := range d.Edges {
		if !slices.Contains(names, e.Source) || !slices.Contains(names, e.Target) {
			t.Errorf("the edge %+v leads from or to nowhere", e)
		}
	}
}
