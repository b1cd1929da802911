// Package memorytest is what every implementation of [memory.Store] must pass.
//
// Call [Conformance] from the implementation's own tests. It is not safe to share one store between two
// calls.
package memorytest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/memory"
)

// Store is what the suite tests; it is closed by one of the tests.
type Store interface {
	memory.Store
	Close() error
}

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"a memory is read back as it was kept", roundTrip},
		{"what says the same is one memory, with the sources of both", merging},
		{"memories are listed by owner, agent, category and age", listing},
		{"a search sees the owner's memories of the agent and of all agents, and nothing else", scopes},
		{"memories with more and rarer words come first", ranking},
		{"an old memory is found among many that share its words", frequent},
		{"any words can be searched for", hostile},
		{"memories that are near come first, of the same model and scope", nearness},
		{"what a user has is bounded, whoever writes at once", room},
		{"what the user said is not pushed out by anything else", spared},
		{"memories are forgotten, by their owner alone", forgetting},
		{"everything of an owner is forgotten", clearing},
		{"what was of no use is swept", sweeping},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

var (
	now  = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)
	most = memory.Room{Entries: 10_000, Bytes: 1 << 24}
)

// entry is a memory of a user's own words; its number orders it among others.
func entry(n int, owner, agent, text string) memory.Entry {
	at := now.Add(time.Duration(n) * time.Minute)
	return memory.Entry{
		ID: fmt.Sprintf("mem_%032x", n), Owner: owner, Agent: agent, Category: memory.Fact, Text: text, Labels: []string{"user"},
		Created: at, Updated: at, Used: at, Times: 1, Run: "r", Thread: "t",
	}
}

func keep(t *testing.T, s memory.Store, list ...memory.Entry) {
	t.Helper()
	for _, e := range list {
		if _, err := s.KeepMemory(t.Context(), e, most); err != nil {
			t.Fatalf("KeepMemory %q: %v", e.Text, err)
		}
	}
}

func all(t *testing.T, s memory.Store, f memory.Filter) []memory.Entry {
	t.Helper()
	f.Limit = max(f.Limit, 1000)
	list, err := s.Memories(t.Context(), f)
	if err != nil {
		t.Fatalf("Memories: %v", err)
	}
	return list
}

func texts(list []memory.Entry) (texts []string) {
	for _, e := range list {
		texts = append(texts, e.Text)
	}
	return texts
}

func search(t *testing.T, s memory.Store, owner, agent, text string) (texts []string) {
	t.Helper()
	found, err := s.SearchMemories(t.Context(), memory.Query{Owner: owner, Agent: agent, Words: memory.Words(text), Limit: 10})
	if err != nil {
		t.Fatalf("SearchMemories %q: %v", text, err)
	}
	for _, f := range found {
		if f.Score <= 0 {
			t.Errorf("%q has the score %v", f.Text, f.Score)
		}
		texts = append(texts, f.Text)
	}
	return texts
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func roundTrip(t *testing.T, s Store) {
	e := entry(1, "ada", "core", "Größe: the disk of web01 has 4 TB — “full” ü")
	e.Category, e.Labels = memory.Audit, []string{"memory", "tool:run_command", "user"}
	kept, err := s.KeepMemory(t.Context(), e, most)
	if err != nil || kept != (memory.Kept{ID: e.ID}) {
		t.Fatalf("got %+v, %v", kept, err)
	}
	if diff := cmp.Diff([]memory.Entry{e}, all(t, s, memory.Filter{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	later := now.Add(time.Hour)
	if err := s.UsedMemories(t.Context(), []string{e.ID, "mem_none"}, later); err != nil {
		t.Fatal(err)
	}
	keep(t, s, entry(2, "bob", "", "whatever")) // comes after what was queued
	if got := all(t, s, memory.Filter{Owner: "ada"}); !got[0].Used.Equal(later) || !got[0].Updated.Equal(e.Updated) {
		t.Errorf("after it was used: %+v", got[0])
	}
}

func merging(t *testing.T, s Store) {
	first, second := entry(1, "ada", "", "My editor is vim."), entry(2, "ada", "", "my  EDITOR is the vim")
	second.Category, second.Labels, second.Run = memory.Preference, []string{"tool:http_get", "user"}, "later"
	keep(t, s, first)
	kept, err := s.KeepMemory(t.Context(), second, most)
	if err != nil || kept != (memory.Kept{ID: first.ID, Merged: true}) {
		t.Fatalf("got %+v, %v", kept, err)
	}
	merged := first
	merged.Category, merged.Labels, merged.Run = second.Category, second.Labels, second.Run
	merged.Updated, merged.Used, merged.Times = second.Updated, second.Used, 2
	keep(t, s, entry(3, "ada", "core", first.Text), entry(4, "bob", "", first.Text)) // another agent's, another user's
	if diff := cmp.Diff([]memory.Entry{merged}, all(t, s, memory.Filter{Owner: "ada", Agents: []string{""}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(all(t, s, memory.Filter{})); n != 3 {
		t.Errorf("%d memories, want 3", n)
	}
}

func listing(t *testing.T, s Store) {
	four := entry(4, "bob", "", "four")
	two := entry(2, "ada", "core", "two")
	two.Category = memory.Decision
	keep(t, s, entry(1, "ada", "", "one"), two, entry(3, "ada", "sync", "three"), four)
	for _, tc := range []struct {
		name string
		f    memory.Filter
		want []string
	}{
		{"all", memory.Filter{}, []string{"four", "three", "two", "one"}},
		{"a user's", memory.Filter{Owner: "ada"}, []string{"three", "two", "one"}},
		{"of agents", memory.Filter{Owner: "ada", Agents: []string{"", "core"}}, []string{"two", "one"}},
		{"of a category", memory.Filter{Category: memory.Decision}, []string{"two"}},
		{"older ones", memory.Filter{Before: four.ID}, []string{"three", "two", "one"}},
		{"nobody's", memory.Filter{Owner: "eve"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) { want(t, texts(all(t, s, tc.f)), tc.want...) })
	}
	page, err := s.Memories(t.Context(), memory.Filter{Limit: 2})
	if err != nil || len(page) != 2 {
		t.Errorf("a page: got %v, %v", page, err)
	}
}

func scopes(t *testing.T, s Store) {
	keep(t, s,
		entry(1, "ada", "", "vim for all"), entry(2, "ada", "core", "vim for core"), entry(3, "ada", "sync", "vim for sync"),
		entry(4, "bob", "", "vim of bob"), entry(5, "bob", "core", "vim of bob's core"), entry(6, "", "", "vim of nobody"))
	want(t, search(t, s, "ada", "core", "vim all"), "vim for all", "vim for core")
	want(t, search(t, s, "ada", "quick", "vim"), "vim for all")
	want(t, search(t, s, "bob", "", "vim"), "vim of bob")
	want(t, search(t, s, "eve", "core", "vim"))
}

func ranking(t *testing.T, s Store) {
	for n := range 30 {
		keep(t, s, entry(100+n, "ada", "", fmt.Sprintf("the backup of db%02d runs at night", n)))
	}
	keep(t, s, entry(1, "ada", "", "the backup of db77 goes to Zürich"), entry(2, "ada", "", "nothing of the kind"))
	if got := search(t, s, "ada", "core", "where does the backup of DB77 go?"); len(got) != 10 || got[0] != "the backup of db77 goes to Zürich" {
		t.Errorf("got %q", got)
	}
	want(t, search(t, s, "ada", "core", "ZURICH"), "the backup of db77 goes to Zürich")
	want(t, search(t, s, "ada", "core", "kind nowhere"), "nothing of the kind")
	want(t, search(t, s, "ada", "core", "unheard"))
	stuffed := entry(3, "ada", "", "kind kind kind kind kind kind kind kind kind kind")
	keep(t, s, stuffed)
	if got := search(t, s, "ada", "core", "nothing kind"); len(got) != 2 || got[0] != "nothing of the kind" {
		t.Errorf("repeating a word helps: got %q", got)
	}
}

func frequent(t *testing.T, s Store) {
	keep(t, s, entry(1, "ada", "", "alpha beta gamma"))
	for n := range 700 {
		keep(t, s, entry(10+n, "ada", "", fmt.Sprintf("%s and number %d", []string{"alpha", "beta"}[n%2], n)))
	}
	if got := search(t, s, "ada", "", "alpha beta"); len(got) == 0 || got[0] != "alpha beta gamma" {
		t.Errorf("got %q", got)
	}
}

func hostile(t *testing.T, s Store) {
	keep(t, s, entry(1, "ada", "", `it's "quoted" AND near(NOT) col:text * ^ -x 100% naïve 日本語 ٣`))
	for _, words := range [][]string{
		{"and"},
		{"or", "not", "near"},
		{"quoted"},
		{"日本語"},
		{"naïve"},
		{"text"},
		{"100"},
		{"x"},
		{"٣"},
		{strings.Repeat("long", 500)},
		memory.Words(strings.Repeat("many words ", 100)), nil,
	} {
		if _, err := s.SearchMemories(t.Context(), memory.Query{Owner: "ada", Words: words, Limit: 5}); err != nil {
			t.Errorf("%.40q: %v", words, err)
		}
	}
	want(t, search(t, s, "ada", "", "NEAR"), all(t, s, memory.Filter{})[0].Text)
}

func nearness(t *testing.T, s Store) {
	one, two, other, bobs := entry(1, "ada", "", "one"), entry(2, "ada", "core", "two"), entry(3, "ada", "sync", "three"), entry(4, "bob", "", "four")
	keep(t, s, one, two, other, bobs)
	for id, v := range map[string][]float32{one.ID: {0.8, 0.6}, two.ID: {1, 0}, other.ID: {1, 0}, bobs.ID: {1, 0}, "mem_none": {1, 0}} {
		if err := s.KeepVector(t.Context(), id, "m", v); err != nil {
			t.Fatal(err)
		}
	}
	near := func(agent, model string, v ...float32) (texts []string) {
		t.Helper()
		found, err := s.NearMemories(t.Context(), memory.Near{Owner: "ada", Agent: agent, Model: model, Vector: v, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Score <= 0 || f.Score > 1.0001 {
				t.Errorf("%q has the score %v", f.Text, f.Score)
			}
			texts = append(texts, f.Text)
		}
		return texts
	}
	want(t, near("core", "m", 1, 0), "two", "one")
	want(t, near("core", "m", 0, 1), "one")
	want(t, near("quick", "m", 1, 0), "one")
	want(t, near("", "m", 1, 0), "one")
	want(t, near("core", "another", 1, 0))
	want(t, near("core", "m", 1, 0, 0))
	for model, missing := range map[string]int{"m": 0, "another": 3} {
		if bare, err := s.BareMemories(t.Context(), "ada", model, 10); err != nil || len(bare) != missing {
			t.Errorf("%d without a vector of %s, %v, want %d", len(bare), model, err, missing)
		}
	}
	if err := s.KeepVector(t.Context(), one.ID, "another", []float32{1, 0}); err != nil {
		t.Fatal(err)
	}
	want(t, near("", "another", 1, 0), "one")
	if _, err := s.ForgetMemories(t.Context(), "ada", []string{one.ID}); err != nil {
		t.Fatal(err)
	}
	want(t, near("", "another", 1, 0))
}

func room(t *testing.T, s Store) {
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			if _, err := s.KeepMemory(t.Context(), entry(n, "ada", []string{"", "core"}[n%2], fmt.Sprint("number ", n)), memory.Room{Entries: 5, Bytes: 1000}); err != nil && !errors.Is(err, memory.ErrFull) {
				t.Errorf("KeepMemory: %v", err)
			}
		})
	}
	wg.Wait()
	if n := len(all(t, s, memory.Filter{Owner: "ada"})); n != 5 {
		t.Errorf("%d memories, want 5", n)
	}
	kept, err := s.KeepMemory(t.Context(), entry(99, "ada", "", strings.Repeat("x", 90)), memory.Room{Entries: 5, Bytes: 100})
	if err != nil || kept.Gone < 4 {
		t.Errorf("a large one: got %+v, %v, want four gone", kept, err)
	}
	if got := search(t, s, "ada", "core", "number"); len(got) > 1 {
		t.Errorf("what went is still found: %q", got)
	}
}

func spared(t *testing.T, s Store) {
	two := memory.Room{Entries: 2, Bytes: 1000}
	foreign := func(n int, text string) memory.Entry {
		e := entry(n, "ada", "core", text)
		e.Labels = []string{"tool:http_get", "user"}
		return e
	}
	for _, tc := range []struct {
		name string
		e    memory.Entry
		err  error
		want []string
	}{
		{"a page's", foreign(2, "one of a page"), nil, []string{"one of a page"}},
		{"the user's", entry(1, "ada", "", "one said"), nil, []string{"one of a page", "one said"}},
		{"another page's", foreign(3, "two of a page"), nil, []string{"two of a page", "one said"}},
		{"the user's again", entry(4, "ada", "", "two said"), nil, []string{"two said", "one said"}},
		{"no page's any more", foreign(5, "three of a page"), memory.ErrFull, []string{"two said", "one said"}},
		{"the user's newest", entry(6, "ada", "", "three said"), nil, []string{"three said", "two said"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := s.KeepMemory(t.Context(), tc.e, two); !errors.Is(err, tc.err) {
				t.Errorf("got %v, want %v", err, tc.err)
			}
			want(t, texts(all(t, s, memory.Filter{})), tc.want...)
		})
	}
}

func forgetting(t *testing.T, s Store) {
	one, two := entry(1, "ada", "core", "one thing"), entry(2, "bob", "", "another thing")
	keep(t, s, one, two)
	for _, tc := range []struct {
		name, owner string
		ids         []string
		want        []memory.Entry
	}{
		{"another's", "ada", []string{two.ID, "mem_x"}, nil},
		{"one's own", "ada", []string{one.ID, two.ID}, []memory.Entry{{ID: one.ID, Owner: "ada", Agent: "core", Category: memory.Fact}}},
		{"again", "ada", []string{one.ID}, nil},
		{"anybody's", "", []string{two.ID}, []memory.Entry{{ID: two.ID, Owner: "bob", Category: memory.Fact}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := s.ForgetMemories(t.Context(), tc.owner, tc.ids)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	want(t, search(t, s, "ada", "core", "thing"))
	want(t, search(t, s, "bob", "core", "thing"))
	if err := s.EraseMemories(t.Context()); err != nil {
		t.Error(err)
	}
}

func clearing(t *testing.T, s Store) {
	keep(t, s, entry(1, "ada", "", "one thing"), entry(2, "ada", "core", "two things"), entry(3, "bob", "", "three things"))
	for _, want := range []int{2, 0} {
		if n, err := s.ClearMemories(t.Context(), "ada", time.Time{}); err != nil || n != want {
			t.Errorf("got %d, %v, want %d", n, err, want)
		}
	}
	want(t, texts(all(t, s, memory.Filter{})), "three things")
	newer := entry(5, "ada", "", "a newer thing")
	keep(t, s, entry(4, "ada", "", "a new thing"), newer)
	if n, err := s.ClearMemories(t.Context(), "ada", newer.Created); err != nil || n != 1 {
		t.Errorf("those before a time: got %d, %v, want 1", n, err)
	}
	want(t, search(t, s, "ada", "core", "one two new newer thing things"), "a newer thing")
}

func sweeping(t *testing.T, s Store) {
	keep(t, s, entry(1, "ada", "", "old"), entry(2, "ada", "", "also old"), entry(9, "bob", "", "new"))
	for _, want := range []int{1, 1, 0} {
		if n, err := s.SweepMemories(t.Context(), now.Add(5*time.Minute), 1); err != nil || n != want {
			t.Errorf("got %d, %v, want %d", n, err, want)
		}
	}
	want(t, texts(all(t, s, memory.Filter{})), "new")
}

func unavailable(t *testing.T, s Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, kept := s.KeepMemory(t.Context(), entry(1, "ada", "", "x"), most)
	_, listed := s.Memories(t.Context(), memory.Filter{Limit: 1})
	_, found := s.SearchMemories(t.Context(), memory.Query{Owner: "ada", Words: []string{"x"}, Limit: 1})
	_, forgot := s.ForgetMemories(t.Context(), "", []string{"x"})
	for name, err := range map[string]error{"KeepMemory": kept, "Memories": listed, "SearchMemories": found, "ForgetMemories": forgot, "EraseMemories": s.EraseMemories(t.Context())} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s of a closed store: got %v, want %v", name, err, agents.ErrUnavailable)
		}
	}
}
