// Package itemstest is what every implementation of [items.Store] must pass.
//
// Call [Conformance] from the implementation's own tests. It is not safe to share one store between two
// calls.
package itemstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/items"
)

// Store is what the suite tests; it is closed by one of the tests.
type Store interface {
	items.Store
	Close() error
}

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"an item is read back as it was put", roundTrip},
		{"an item of the same name is replaced and keeps when it was created", replacing},
		{"items are yielded below a prefix, the ones written last first", listing},
		{"namespaces are yielded once each", namespaces},
		{"a prefix is one of labels, not of text", labels},
		{"what has expired is not there, and is swept", expiry},
		{"the time of an item begins anew, and only then", renewal},
		{"what a user keeps is bounded, whoever writes at once", room},
		{"owners of a name are found", owners},
		{"what is not there is not found", missing},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

var (
	now  = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)
	most = items.Room{Items: 100, Bytes: 1 << 20}
)

func item(owner, path, key string, at time.Time) items.Item {
	return items.Item{
		Owner: owner, Namespace: strings.Split(path, "."), Key: key, Created: at, Updated: at,
		Value: json.RawMessage(fmt.Sprintf(`{"of":%q}`, path+"/"+key)),
	}
}

func put(t *testing.T, s items.Store, list ...items.Item) {
	t.Helper()
	for _, i := range list {
		if err := s.PutItem(t.Context(), i, most); err != nil {
			t.Fatalf("PutItem %s %s: %v", items.Path(i.Namespace), i.Key, err)
		}
	}
}

func ref(i items.Item) items.Ref {
	return items.Ref{Owner: i.Owner, Namespace: i.Namespace, Key: i.Key}
}

func get(t *testing.T, s items.Store, i items.Item, at time.Time) items.Item {
	t.Helper()
	got, err := s.Item(t.Context(), ref(i), at)
	if err != nil {
		t.Fatalf("Item %s %s: %v", items.Path(i.Namespace), i.Key, err)
	}
	return got
}

func list(t *testing.T, s items.Store, owner string, at time.Time, prefix ...string) (names []string) {
	t.Helper()
	for i, err := range s.Items(t.Context(), owner, prefix, at) {
		if err != nil {
			t.Fatalf("Items: %v", err)
		}
		names = append(names, i.Owner+" "+items.Path(i.Namespace)+" "+i.Key)
	}
	return names
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func roundTrip(t *testing.T, s Store) {
	i := item("ada", "users.42", "a/b.c ü", now)
	i.Value = json.RawMessage(`{"text":"` + strings.Repeat("long ", 1000) + `","n":[1,2.5,null,true]}`)
	i.TTL, i.Expires = time.Hour, now.Add(time.Hour)
	put(t, s, i)
	if diff := cmp.Diff(i, get(t, s, i, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func replacing(t *testing.T, s Store) {
	first := item("ada", "a", "k", now)
	second := item("ada", "a", "k", now.Add(time.Second))
	second.Value = json.RawMessage(`{"second":true}`)
	put(t, s, first, second)
	second.Created = first.Created
	if diff := cmp.Diff(second, get(t, s, second, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	short := item("ada", "a", "short", now)
	short.TTL, short.Expires = time.Second, now.Add(time.Second)
	late := item("ada", "a", "short", now.Add(time.Minute))
	put(t, s, short, late)
	if got := get(t, s, late, late.Updated); !got.Created.Equal(late.Created) {
		t.Errorf("in the place of one that had expired: created %s, want %s", got.Created, late.Created)
	}
}

func listing(t *testing.T, s Store) {
	put(t, s,
		item("ada", "a", "old", now), item("ada", "a.b", "new", now.Add(2*time.Second)), item("ada", "a.b", "mid", now.Add(time.Second)),
		item("ada", "c", "same", now), item("bob", "a", "his", now.Add(time.Second)))
	want(t, list(t, s, "ada", now), "ada a.b new", "ada a.b mid", "ada a old", "ada c same")
	want(t, list(t, s, "ada", now, "a", "b"), "ada a.b new", "ada a.b mid")
	want(t, list(t, s, "", now, "a"), "ada a.b new", "bob a his", "ada a.b mid", "ada a old")
	want(t, list(t, s, "eve", now))
	for _, err := range s.Items(t.Context(), "ada", nil, now) {
		if err != nil {
			t.Fatal(err)
		}
		break // and nothing is left open
	}
	put(t, s, item("ada", "d", "after", now))
}

func namespaces(t *testing.T, s Store) {
	gone := item("ada", "z", "k", now)
	gone.TTL, gone.Expires = time.Second, now.Add(time.Second)
	put(t, s, item("ada", "b", "1", now), item("ada", "b", "2", now), item("ada", "a.x", "1", now), item("bob", "c", "1", now), gone)
	for _, tc := range []struct {
		name, owner string
		prefix      []string
		want        []string
	}{
		{"a user's", "ada", nil, []string{"a.x", "b"}},
		{"everybody's", "", nil, []string{"a.x", "b", "c"}},
		{"below a prefix", "ada", []string{"a"}, []string{"a.x"}},
	} {
		var got []string
		for ns, err := range s.Namespaces(t.Context(), tc.owner, tc.prefix, now.Add(time.Minute)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, items.Path(ns))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func labels(t *testing.T, s Store) {
	put(t, s, item("ada", "a", "1", now), item("ada", "ab", "2", now), item("ada", "a-b", "3", now), item("ada", "a.b", "4", now), item("ada", "a/b", "5", now), item("ada", "a%.c", "6", now))
	want(t, list(t, s, "ada", now, "a"), "ada a 1", "ada a.b 4")
	want(t, list(t, s, "ada", now, "a%"), "ada a%.c 6")
}

func expiry(t *testing.T, s Store) {
	short, long, ever := item("ada", "a", "short", now), item("ada", "a", "long", now), item("ada", "a", "ever", now)
	short.TTL, short.Expires = time.Minute, now.Add(time.Minute)
	long.TTL, long.Expires = time.Hour, now.Add(time.Hour)
	put(t, s, short, long, ever)
	late := now.Add(time.Minute)
	want(t, list(t, s, "ada", late), "ada a ever", "ada a long")
	if _, err := s.Item(t.Context(), ref(short), late); !errors.Is(err, items.ErrNotFound) {
		t.Errorf("got %v, want %v", err, items.ErrNotFound)
	}
	if n, err := s.SweepItems(t.Context(), late, 10); n != 1 || err != nil {
		t.Errorf("swept %d, %v, want 1", n, err)
	}
	if n, err := s.SweepItems(t.Context(), late, 10); n != 0 || err != nil {
		t.Errorf("swept %d, %v, want none", n, err)
	}
	want(t, list(t, s, "ada", now), "ada a ever", "ada a long")
}

func renewal(t *testing.T, s Store) {
	short, ever := item("ada", "a", "short", now), item("ada", "a", "ever", now)
	short.TTL, short.Expires = time.Minute, now.Add(time.Minute)
	put(t, s, short, ever)
	half := now.Add(30 * time.Second)
	if err := s.RenewItems(t.Context(), []items.Ref{ref(short), ref(ever)}, half); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, short, half); !got.Expires.Equal(half.Add(time.Minute)) || !got.Updated.Equal(now) {
		t.Errorf("got %+v, want another minute and nothing else", got)
	}
	if got := get(t, s, ever, half); !got.Expires.IsZero() {
		t.Errorf("one without an end got one: %+v", got)
	}
	gone := half.Add(2 * time.Minute)
	if err := s.RenewItems(t.Context(), []items.Ref{ref(short)}, gone); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Item(t.Context(), ref(short), gone); !errors.Is(err, items.ErrNotFound) {
		t.Errorf("what had expired came back: %v", err)
	}
}

func room(t *testing.T, s Store) {
	few := items.Room{Items: 5, Bytes: 1 << 20}
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for n := range errs {
		wg.Go(func() { errs[n] = s.PutItem(t.Context(), item("ada", "a", fmt.Sprint(n), now), few) })
	}
	wg.Wait()
	kept := 0
	for _, err := range errs {
		if err == nil {
			kept++
		} else if !errors.Is(err, items.ErrFull) {
			t.Errorf("got %v, want %v", err, items.ErrFull)
		}
	}
	if there := list(t, s, "ada", now); kept != 5 || len(there) != 5 {
		t.Errorf("%d were kept and %d are there, want 5", kept, len(there))
	}
	large := item("bob", "a", "large", now)
	large.Value = json.RawMessage(`{"text":"` + strings.Repeat("x", 1000) + `"}`)
	small := items.Room{Items: 5, Bytes: 1500}
	if err := s.PutItem(t.Context(), large, small); err != nil {
		t.Fatal(err)
	}
	other := large
	other.Key = "other"
	if err := s.PutItem(t.Context(), other, small); !errors.Is(err, items.ErrFull) {
		t.Errorf("more bytes than there is room for: got %v", err)
	}
	if err := s.PutItem(t.Context(), large, small); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := s.DeleteItem(t.Context(), ref(large)); err != nil {
		t.Fatal(err)
	}
	if err := s.PutItem(t.Context(), other, small); err != nil {
		t.Errorf("after the other was deleted: %v", err)
	}
}

func owners(t *testing.T, s Store) {
	gone := item("dan", "a", "k", now)
	gone.TTL, gone.Expires = time.Second, now.Add(time.Second)
	put(t, s, item("ada", "a", "k", now), item("bob", "a", "k", now), item("cid", "a", "other", now), gone)
	got, err := s.ItemOwners(t.Context(), items.Ref{Namespace: []string{"a"}, Key: "k"}, now.Add(time.Minute), 5)
	if err != nil || !slices.Equal(got, []string{"ada", "bob"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func missing(t *testing.T, s Store) {
	there := item("ada", "a", "k", now)
	put(t, s, there)
	for _, r := range []items.Ref{
		{Owner: "bob", Namespace: there.Namespace, Key: "k"}, {Owner: "ada", Namespace: []string{"b"}, Key: "k"}, {Owner: "ada", Namespace: there.Namespace, Key: "K"},
	} {
		if _, err := s.Item(t.Context(), r, now); !errors.Is(err, items.ErrNotFound) {
			t.Errorf("Item %v: got %v, want %v", r, err, items.ErrNotFound)
		}
		if err := s.DeleteItem(t.Context(), r); err != nil {
			t.Errorf("DeleteItem %v: %v", r, err)
		}
	}
	get(t, s, there, now)
}

func unavailable(t *testing.T, s Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, read := s.Item(t.Context(), ref(item("ada", "a", "k", now)), now)
	var listed error
	for _, err := range s.Items(t.Context(), "ada", nil, now) {
		listed = err
	}
	for name, err := range map[string]error{"PutItem": s.PutItem(t.Context(), item("ada", "a", "k", now), most), "Item": read, "Items": listed} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s of a closed store: got %v, want %v", name, err, agents.ErrUnavailable)
		}
	}
}
