package items_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/policy"
)

func TestMatches(t *testing.T) {
	const value = `{"name":"Ada","age":36,"zip":"0815","tags":["a","b"],"home":{"city":"London","no":7},"none":null}`
	for _, tc := range []struct {
		filter string
		want   bool
	}{
		{`{}`, true},
		{`{"name":"Ada"}`, true},
		{`{"name":"ada"}`, false},
		{`{"name":"Ada","age":37}`, false},
		{`{"missing":null}`, false},
		{`{"none":null}`, true},
		{`{"tags":["a","b"]}`, true},
		{`{"tags":["b","a"]}`, false},
		{`{"home":{"city":"London"}}`, true},
		{`{"home":{"city":{"$ne":"Paris"},"no":{"$gt":6}}}`, true},
		{`{"name":{"first":"Ada"}}`, false},
		{`{"age":{"$eq":36}}`, true},
		{`{"age":{"$ne":36}}`, false},
		{`{"missing":{"$ne":36}}`, true},
		{`{"age":{"$gt":36}}`, false},
		{`{"age":{"$gte":36,"$lt":37}}`, true},
		{`{"age":{"$lte":35}}`, false},
		{`{"age":{"$gt":"3"}}`, false},
		{`{"zip":{"$gt":"0814"}}`, true},
		{`{"missing":{"$lt":1}}`, false},
		{`{"tags":{"$gt":0}}`, false},
	} {
		var v, f map[string]any
		if err := errors.Join(json.Unmarshal([]byte(value), &v), json.Unmarshal([]byte(tc.filter), &f), items.CheckFilter(f)); err != nil {
			t.Fatalf("%s: %v", tc.filter, err)
		}
		if got := items.Matches(v, f); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.filter, got, tc.want)
		}
	}
}

func TestBadQueries(t *testing.T) {
	f := newFixture(t)
	object := func(s string) (m map[string]any) {
		if err := json.Unmarshal([]byte(s), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, tc := range []struct {
		q     items.Query
		field string
	}{
		{items.Query{}, "limit"},
		{items.Query{Limit: 1001}, "limit"},
		{items.Query{Limit: 1, Offset: -1}, "offset"},
		{items.Query{Limit: 1, Prefix: []string{"a.b"}}, "namespace_prefix[0]"},
		{items.Query{Limit: 1, Filter: object(`{"$gt":3}`)}, "filter.$gt"},
		{items.Query{Limit: 1, Filter: object(`{"a":{"$regex":"x"}}`)}, "filter.a.$regex"},
		{items.Query{Limit: 1, Filter: object(`{"a":{"$gt":1,"b":2}}`)}, "filter.a.b"},
		{items.Query{Limit: 1, Filter: object(`{"a":{"b":{"$lt":null}}}`)}, "filter.a.b.$lt"},
		{items.Query{Limit: 1, Text: strings.Repeat("x", 3000)}, "query"},
		{items.Query{Limit: 1, Text: strings.Repeat("x y z ", 3) + strings.Join(strings.Split("abcdefghijklmnopqrstuvw0123456789", ""), " ")}, "query"},
	} {
		_, err := f.Search(t.Context(), ada, tc.q)
		if fault, ok := errors.AsType[*agents.FieldError](err); !ok || fault.Field != tc.field {
			t.Errorf("%+v: got %v, want an error about %s", tc.q, err, tc.field)
		}
	}
}

// model is the store as anybody would write it who had no storage: a list.
type model []items.Item

func (m *model) put(i items.Item) {
	for n, old := range *m {
		if old.Owner == i.Owner && old.Key == i.Key && slices.Equal(old.Namespace, i.Namespace) {
			(*m)[n] = i
			return
		}
	}
	*m = append(*m, i)
}

func (m model) search(p policy.Principal, q items.Query, now time.Time) []string {
	type hit struct {
		items.Item
		score float64
	}
	var hits []hit
	for _, i := range m {
		if i.Gone(now) || !own.Sees(p, i.Owner) || len(i.Namespace) < len(q.Prefix) || !slices.Equal(i.Namespace[:len(q.Prefix)], q.Prefix) {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal(i.Value, &v); err != nil {
			panic(err)
		}
		if n, asked := q.Filter["n"]; asked {
			if c, ranged := n.(map[string]any); ranged && v["n"].(float64) <= c["$gt"].(float64) || !ranged && v["n"] != n {
				continue
			}
		}
		h := hit{Item: i}
		if q.Text != "" {
			for w := range strings.FieldsSeq(q.Text) {
				if strings.Contains(v["text"].(string), w) {
					h.score++
				}
			}
			if h.score == 0 {
				continue
			}
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.score != b.score:
			return int(b.score - a.score)
		case !a.Updated.Equal(b.Updated):
			return b.Updated.Compare(a.Updated)
		case items.Path(a.Namespace) != items.Path(b.Namespace):
			return strings.Compare(items.Path(a.Namespace), items.Path(b.Namespace))
		case a.Key != b.Key:
			return strings.Compare(a.Key, b.Key)
		}
		return strings.Compare(a.Owner, b.Owner)
	})
	var names []string
	for _, h := range hits[min(q.Offset, len(hits)):] {
		if len(names) < q.Limit {
			names = append(names, h.Owner+" "+items.Path(h.Namespace)+" "+h.Key)
		}
	}
	return names
}

// A search finds what a loop over a list finds, in the same order.
func TestSearchIsTheModels(t *testing.T) {
	f := newFixture(t)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	people := []policy.Principal{ada, bob, root}
	var m model
	for range 300 {
		f.now = f.now.Add(time.Duration(r.IntN(3)) * time.Second)
		p := people[r.IntN(3)]
		i := items.Item{
			Namespace: at(pick("a", "ab", "a.b", "a.b.c", "a-b", "b")), Key: pick("1", "2", "x/y", "z."), TTL: time.Duration(r.IntN(3)) * time.Minute,
			Value: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"%s %s %s"}`, r.IntN(4), pick("red", "green", "blue"), pick("car", "cart", "bus"), pick("old", "new"))),
		}
		switch r.IntN(10) {
		case 0:
			if err := f.Delete(t.Context(), p, items.Ref{Namespace: i.Namespace, Key: i.Key}); err != nil {
				t.Fatal(err)
			}
			m = slices.DeleteFunc(m, func(o items.Item) bool {
				return o.Owner == p.User && o.Key == i.Key && slices.Equal(o.Namespace, i.Namespace)
			})
		case 1:
			if err := f.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		default:
			if err := f.Put(t.Context(), p, i); err != nil {
				t.Fatal(err)
			}
			i.Owner, i.Updated = p.User, f.now
			if i.TTL > 0 {
				i.Expires = f.now.Add(i.TTL)
			}
			m.put(i)
		}
		q := items.Query{Limit: 1 + r.IntN(12), Offset: r.IntN(4)}
		if r.IntN(2) == 0 {
			q.Prefix = at(pick("a", "a.b", "b", "c", "a-b"))
		}
		switch r.IntN(4) {
		case 0:
			q.Filter = map[string]any{"n": float64(r.IntN(4))}
		case 1:
			q.Filter = map[string]any{"n": map[string]any{"$gt": float64(r.IntN(4))}}
		}
		if r.IntN(3) == 0 {
			q.Text = pick("red", "red car", "cart new", "purple", "blue bus old")
		}
		asks := people[r.IntN(3)]
		found, err := f.Search(t.Context(), asks, q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range found {
			got = append(got, i.Owner+" "+items.Path(i.Namespace)+" "+i.Key)
		}
		if diff := cmp.Diff(m.search(asks, q, f.now), got); diff != "" {
			t.Fatalf("%s asks for %+v (-want +got):\n%s", asks.User, q, diff)
		}
	}
}

// What is read as a namespace is written the same, and what is none is refused with the place.
func FuzzParseNamespace(f *testing.F) {
	for _, text := range []string{"", "a", "a.b", "a..b", ".", "a.", "a/b", "ü.*", "a\x00", strings.Repeat("a.", 20), "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ns, err := items.ParseNamespace(text)
		if err != nil {
			if fault, ok := errors.AsType[*agents.FieldError](err); !ok || !strings.HasPrefix(fault.Field, "namespace") {
				t.Fatalf("%q: %v is no error about the namespace", text, err)
			}
			return
		}
		if got := items.Path(ns); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if len(ns) == 0 || len(ns) > items.MaxDepth || slices.Contains(ns, "") {
			t.Errorf("%q was read as %q", text, ns)
		}
	})
}

// A key that is taken is found again under its own name and no other.
func FuzzKey(f *testing.F) {
	k := newFixture(f)
	for _, key := range []string{"k", "", "a/b.c", "../..", "%", "'", "ü", "a\x00b", "\xff", strings.Repeat("k", 2000)} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		err := k.Put(t.Context(), ada, items.Item{Namespace: at("fuzz"), Key: key, Value: json.RawMessage(`{}`)})
		if (err == nil) != (items.CheckKey(key) == nil) {
			t.Fatalf("%q: %v", key, err)
		}
		if err != nil {
			return
		}
		found, err := k.Search(t.Context(), ada, items.Query{Prefix: at("fuzz"), Limit: 10})
		if err != nil || len(found) != 1 || found[0].Key != key {
			t.Errorf("%q: found %v, %v", key, found, err)
		}
		if err := k.Delete(t.Context(), ada, items.Ref{Namespace: at("fuzz"), Key: key}); err != nil {
			t.Error(err)
		}
	})
}
