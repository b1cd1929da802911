package items_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/policy"
)

func at(path string) []string { return strings.Split(path, ".") }

func (f *fixture) put(t *testing.T, p policy.Principal, path, key, value string) {
	t.Helper()
	if err := f.Put(t.Context(), p, items.Item{Namespace: at(path), Key: key, Value: json.RawMessage(value)}); err != nil {
		t.Fatalf("Put %s %s: %v", path, key, err)
	}
}

// Each user has a space of their own, whatever they call what is in it.
func TestSpacesAreApart(t *testing.T) {
	f := newFixture(t)
	f.put(t, ada, "notes", "k", `{"of":"ada"}`)
	r := items.Ref{Namespace: at("notes"), Key: "k"}
	if _, err := f.Get(t.Context(), bob, r, true); !errors.Is(err, items.ErrNotFound) {
		t.Errorf("bob's Get: %v", err)
	}
	f.put(t, bob, "notes", "k", `{"of":"bob"}`)
	if err := f.Delete(t.Context(), bob, r); err != nil {
		t.Fatal(err)
	}
	if i, err := f.Get(t.Context(), ada, r, false); err != nil || string(i.Value) != `{"of":"ada"}` {
		t.Errorf("ada's: %s, %v", i.Value, err)
	}
	if f.foreign(t) != 0 {
		t.Error("what is one's own was recorded as another's")
	}
	named := r
	named.Owner = "ada"
	_, get := f.Get(t.Context(), bob, named, false)
	put := f.Put(t.Context(), bob, items.Item{Owner: "ada", Namespace: r.Namespace, Key: "x", Value: json.RawMessage(`{}`)})
	if !errors.Is(get, items.ErrNotFound) || !errors.Is(put, items.ErrNotFound) {
		t.Errorf("another's by name: Get %v, Put %v", get, put)
	}
	if err := f.Delete(t.Context(), bob, named); err != nil {
		t.Errorf("another's by name: Delete %v", err)
	}
	found, err := f.Search(t.Context(), bob, items.Query{Owner: "ada", Limit: 10})
	if err != nil || len(found) != 0 {
		t.Errorf("another's by name: Search %v, %v", found, err)
	}
	spaces, err := f.Namespaces(t.Context(), bob, items.Pattern{Owner: "ada", Limit: 10})
	if err != nil || len(spaces) != 0 {
		t.Errorf("another's by name: Namespaces %v, %v", spaces, err)
	}
	if n := f.foreign(t); n != 5 {
		t.Errorf("%d of 5 attempts are on record", n)
	}
	if _, err := f.Get(t.Context(), ada, r, false); err != nil {
		t.Errorf("ada's is gone: %v", err)
	}
}

func TestAdminsReachEverybodys(t *testing.T) {
	f := newFixture(t)
	f.put(t, ada, "notes", "k", `{"of":"ada"}`)
	r := items.Ref{Namespace: at("notes"), Key: "k"}
	if i, err := f.Get(t.Context(), root, r, false); err != nil || i.Owner != "ada" {
		t.Errorf("the only one of its name: %+v, %v", i, err)
	}
	f.put(t, bob, "notes", "k", `{"of":"bob"}`)
	if _, err := f.Get(t.Context(), root, r, false); !errors.Is(err, items.ErrAmbiguous) {
		t.Errorf("one of two: %v", err)
	}
	if found, err := f.Search(t.Context(), root, items.Query{Limit: 10}); err != nil || len(found) != 2 {
		t.Errorf("found %v, %v, want both", found, err)
	}
	f.put(t, root, "notes", "k", `{"of":"root"}`)
	if i, err := f.Get(t.Context(), root, r, false); err != nil || i.Owner != "root" {
		t.Errorf("one's own first: %+v, %v", i, err)
	}
	r.Owner = "bob"
	if err := f.Delete(t.Context(), root, r); err != nil {
		t.Fatal(err)
	}
	if found, err := f.Search(t.Context(), bob, items.Query{Limit: 10}); err != nil || len(found) != 0 {
		t.Errorf("bob still has %v, %v", found, err)
	}
}

func TestBadInput(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("x", 2000)
	good := items.Item{Namespace: at("a.b"), Key: "k/1.2", Value: json.RawMessage(`{}`)}
	for _, tc := range []struct {
		name   string
		change func(*items.Item)
		field  string
	}{
		{"no namespace", func(i *items.Item) { i.Namespace = nil }, "namespace"},
		{"an empty label", func(i *items.Item) { i.Namespace = []string{"a", ""} }, "namespace[1]"},
		{"a label with a dot", func(i *items.Item) { i.Namespace = []string{"a.b"} }, "namespace[0]"},
		{"a long label", func(i *items.Item) { i.Namespace = []string{long} }, "namespace[0]"},
		{"a label with a NUL", func(i *items.Item) { i.Namespace = []string{"a\x00"} }, "namespace[0]"},
		{"many labels", func(i *items.Item) { i.Namespace = make([]string, 17) }, "namespace"},
		{"no key", func(i *items.Item) { i.Key = "" }, "key"},
		{"a long key", func(i *items.Item) { i.Key = long }, "key"},
		{"a key with a line break", func(i *items.Item) { i.Key = "a\nb" }, "key"},
		{"no value", func(i *items.Item) { i.Value = nil }, "value"},
		{"a list", func(i *items.Item) { i.Value = json.RawMessage(`[]`) }, "value"},
		{"null", func(i *items.Item) { i.Value = json.RawMessage(`null`) }, "value"},
		{"a negative time", func(i *items.Item) { i.TTL = -1 }, "ttl"},
		{"a time of a century", func(i *items.Item) { i.TTL = 100 * 365 * 24 * time.Hour }, "ttl"},
	} {
		i := good
		tc.change(&i)
		err := f.Put(t.Context(), ada, i)
		if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != tc.field {
			t.Errorf("%s: got %v, want an error about %s", tc.name, err, tc.field)
		}
	}
	if err := f.Put(t.Context(), ada, good); err != nil {
		t.Errorf("a key with dots and slashes: %v", err)
	}
	good.Value = json.RawMessage(`{"x":"` + strings.Repeat("x", items.MaxValue) + `"}`)
	if err := f.Put(t.Context(), ada, good); !errors.Is(err, items.ErrTooLarge) {
		t.Errorf("a large value: %v", err)
	}
}

func TestTimeToLive(t *testing.T) {
	f := newFixture(t)
	i := items.Item{Namespace: at("a"), Key: "k", Value: json.RawMessage(`{"a":1}`), TTL: time.Minute}
	if err := f.Put(t.Context(), ada, i); err != nil {
		t.Fatal(err)
	}
	r := items.Ref{Namespace: i.Namespace, Key: i.Key}
	there := func() bool {
		t.Helper()
		_, err := f.Get(t.Context(), ada, r, false)
		if err != nil && !errors.Is(err, items.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	f.now = f.now.Add(40 * time.Second)
	if _, err := f.Get(t.Context(), ada, r, true); err != nil { // another minute
		t.Fatal(err)
	}
	f.now = f.now.Add(40 * time.Second)
	if !there() {
		t.Error("a read that renews did not renew")
	}
	f.now = f.now.Add(15 * time.Second)
	if _, err := f.Search(t.Context(), ada, items.Query{Limit: 1, Renew: true}); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(40 * time.Second)
	if !there() {
		t.Error("a search that renews did not renew")
	}
	f.now = f.now.Add(30 * time.Second)
	if there() {
		t.Error("it is still there")
	}
	if err := f.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestNamespaces(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"users.1.notes", "users.1.prefs", "users.2.notes", "users", "docs.x"} {
		f.put(t, ada, path, "k", `{}`)
	}
	for _, tc := range []struct {
		name string
		q    items.Pattern
		want []string
	}{
		{"all", items.Pattern{}, []string{"docs.x", "users", "users.1.notes", "users.1.prefs", "users.2.notes"}},
		{"a prefix", items.Pattern{Prefix: at("users")}, []string{"users", "users.1.notes", "users.1.prefs", "users.2.notes"}},
		{"a wildcard", items.Pattern{Prefix: []string{"users", "*", "notes"}}, []string{"users.1.notes", "users.2.notes"}},
		{"a suffix", items.Pattern{Suffix: at("notes")}, []string{"users.1.notes", "users.2.notes"}},
		{"a suffix with a wildcard", items.Pattern{Suffix: []string{"1", "*"}}, []string{"users.1.notes", "users.1.prefs"}},
		{"prefix and suffix share labels", items.Pattern{Prefix: at("users.1"), Suffix: []string{"1", "prefs"}}, []string{"users.1.prefs"}},
		{"cut", items.Pattern{Depth: 1}, []string{"docs", "users"}},
		{"cut to two", items.Pattern{Depth: 2, Prefix: at("users")}, []string{"users", "users.1", "users.2"}},
		{"a page", items.Pattern{Depth: 2, Prefix: at("users"), Offset: 1, Limit: 1}, []string{"users.1"}},
	} {
		if tc.q.Limit == 0 {
			tc.q.Limit = 100
		}
		got, err := f.Namespaces(t.Context(), ada, tc.q)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var paths []string
		for _, ns := range got {
			paths = append(paths, items.Path(ns))
		}
		if diff := cmp.Diff(tc.want, paths); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestShowRedacts(t *testing.T) {
	f := newFixture(t)
	f.put(t, ada, "a", "k", `{"password":"hunter2-correct-horse","colour":"red"}`)
	i, err := f.Get(t.Context(), ada, items.Ref{Namespace: at("a"), Key: "k"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if shown := string(f.Show(i)); strings.Contains(shown, "hunter2") || !strings.Contains(shown, "red") {
		t.Errorf("shown as %s", shown)
	}
}
