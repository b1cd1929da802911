package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a store that keeps what it is given.
type shelf struct {
	Store
	mu     sync.Mutex
	events []Event
	full   bool
}

func (s *shelf) Enqueue(_ context.Context, b Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return ErrUnavailable
	}
	s.events = append(s.events, b.Events...)
	return nil
}

func (s *shelf) Close() error { return nil }

// of are the events of a type, and what their inputs say.
func (s *shelf) of(t *testing.T, kind string) (events []Event, said []counted) {
	t.Helper()
	for _, e := range s.events {
		if e.Type != kind {
			continue
		}
		if err := Verify(e); err != nil {
			t.Error(err)
		}
		var c counted
		if e.Input != "" {
			if err := json.Unmarshal([]byte(e.Input), &c); err != nil {
				t.Errorf("the input %s: %v", e.Input, err)
			}
		}
		events, said = append(events, e), append(said, c)
	}
	return events, said
}

type counted struct {
	Count        int
	First, Last  time.Time
	Codes, Paths values
	Types, Users values
	Addresses    values
	Tokens       values
	Rules        values
}

// singles of one sender who is not known.
var singles = strangers.singles()

func refusal(address, path string) Event {
	return Event{Type: Request, Address: address, Method: "GET", Path: path, Code: 401, Reasons: []string{"credentials_missing"}}
}

func queue(t *testing.T, l *Log, e ...Event) {
	t.Helper()
	if err := l.Queue(t.Context(), e...); err != nil {
		t.Fatal(err)
	}
}

func TestFloodOfOneAddressIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		l := New(s, "node")
		begun := time.Now()
		for i := range 100_000 {
			queue(t, l, refusal("192.0.2.7", fmt.Sprintf("/%d", i%1000)))
		}
		queue(t, l, Event{Type: Request, Address: "192.0.2.7", User: "ann", Path: "/threads", Code: 200})
		time.Sleep(floodMinute)
		synctest.Wait()
		if got, _ := s.of(t, Request); len(got) != singles+1 {
			t.Errorf("got %d records of requests, want %d of the flood and one of ann", len(got), singles)
		}
		got, said := s.of(t, Flood)
		if len(got) != 1 {
			t.Fatalf("got %d records of the flood, want one", len(got))
		}
		e, c := got[0], said[0]
		if e.Address != "192.0.2.7" || e.User != "" || e.Decision != "deny" || c.Count != 100_000-singles ||
			!c.First.Equal(begun.Truncate(time.Millisecond)) || len(c.Codes.List) != 1 || c.Codes.List[0].Value != "401" {
			t.Errorf("got %+v, %s", e, e.Input)
		}
		if len(c.Paths.List) != maxValues || c.Paths.Other == 0 || len(e.Input) > 4096 {
			t.Errorf("got %d paths and %d others in %d bytes, want %d paths and the number of others", len(c.Paths.List), c.Paths.Other, len(e.Input), maxValues)
		}
		// The next minute has records of its own again.
		queue(t, l, refusal("192.0.2.7", "/again"))
		if got, _ := s.of(t, Request); got[len(got)-1].Path != "/again" {
			t.Error("the first refusal of the next minute is not a record")
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFloodIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		l := New(s, "node")
		const n = 50_000
		for i := range n {
			queue(t, l, refusal(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), "/"))
		}
		if got := len(l.flood.window.tables[strangers].senders); got != maxSenders {
			t.Errorf("%d senders are in memory, want %d", got, maxSenders)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		requests, _ := s.of(t, Request)
		floods, said := s.of(t, Flood)
		total := len(requests)
		for _, c := range said {
			total += c.Count
		}
		if len(requests) != allSingles || len(floods) > maxSenders+1 || total != n {
			t.Errorf("got %d records, %d counts, %d in all; want %d, at most %d, %d", len(requests), len(floods), total, allSingles, maxSenders+1, n)
		}
	})
}

func TestFloodSenders(t *testing.T) {
	for _, tc := range []struct {
		name          string
		event         func(i int) Event
		user, address string // of the one record; no address and user: there is none
	}{
		{"a network of IPv6", func(i int) Event { return refusal(fmt.Sprintf("2001:db8::%x", i+1), "/") }, "", "2001:db8::/64"},
		{"IPv4 within IPv6", func(int) Event { return refusal("::ffff:192.0.2.1", "/") }, "", "::ffff:192.0.2.1"},
		{"nothing known", func(int) Event { return refusal("", "/") }, "", "none"},
		{"logins", func(i int) Event {
			return Event{Type: LoginFailed, User: fmt.Sprint("u", i), Address: "192.0.2.1", Reasons: []string{"x"}}
		}, "", "192.0.2.1"},
		{"injections, where nobody is known", func(int) Event {
			return Event{Type: Injection, Address: "192.0.2.1", Findings: json.RawMessage(`[{"rule":"override"},{"rule":"override"}]`)}
		}, "", "192.0.2.1"},
		{"injections of somebody known", func(int) Event { return Event{Type: Injection, Address: "192.0.2.1", User: "ann"} }, "", ""},
		{"pages that need no login", func(int) Event { return Event{Type: Request, Address: "192.0.2.1", Path: "/auth/login", Code: 200} }, "", "192.0.2.1"},
		{"somebody known, above the limit", func(int) Event {
			return Event{Type: Request, Address: "192.0.2.1", User: "ann", Role: "user", Code: 429, Reasons: []string{RateLimited}}
		}, "ann", "192.0.2.1"},
		{"somebody known, above the limit of a backend", func(int) Event {
			return Event{Type: Request, Address: "192.0.2.1", User: "ann", Role: "user", Code: 429}
		}, "", ""},
		{"somebody known, above the limit, from many addresses", func(i int) Event {
			return Event{Type: Request, Address: fmt.Sprint("192.0.2.", i), User: "ann", Code: 429, Reasons: []string{RateLimited}}
		}, "ann", ""},
		{"somebody known", func(int) Event { return Event{Type: Request, Address: "192.0.2.1", User: "ann", Code: 404} }, "", ""},
		{"a lockout", func(int) Event { return Event{Type: Lockout, Address: "192.0.2.1"} }, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{}
				l := New(s, "node")
				few, kind := singles, Flood
				if first := tc.event(0); first.Type != Request {
					c, _ := classOf(&first)
					few, kind = c.singles(), c.record()
				}
				for i := range few + 5 {
					queue(t, l, tc.event(i))
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				got, said := s.of(t, kind)
				if tc.user == "" && tc.address == "" {
					if len(got) != 0 || len(s.events) != few+5 {
						t.Errorf("got %d records with %d counts, want every one", len(s.events), len(got))
					}
					return
				}
				want := strings.TrimPrefix(tc.address, "none")
				if len(got) != 1 || got[0].User != tc.user || got[0].Address != want || said[0].Count != 5 {
					t.Errorf("got %+v, want five of %q at %q", got, tc.user, want)
				}
				if rules := said[0].Rules.List; tc.event(0).Type == Injection && (len(rules) != 1 || rules[0].Value != "override" || rules[0].Count != 10) {
					t.Errorf("got the rules %+v", rules)
				}
			})
		})
	}
}

// Whatever strangers send from wherever, failed logins and injections have records, and of those
// without one the names and addresses are told.
func TestFloodOfOneClassHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		l := New(s, "node")
		address := func(i int) string { return fmt.Sprintf("10.0.%d.%d", i>>8, i&255) }
		for i := range 5000 {
			queue(t, l, refusal(address(i), "/"))
		}
		const n = 1000
		for i := range n {
			queue(t, l, Event{Type: LoginFailed, User: fmt.Sprint("u", i), Address: address(i), Reasons: []string{"x"}})
		}
		queue(t, l,
			Event{Type: Injection, Address: "192.0.2.1"},
			Event{Type: Request, User: "ann", Address: "192.0.2.1", Code: 429, Reasons: []string{RateLimited}})
		if got, _ := s.of(t, LoginFailed); len(got) != allSingles || got[maxSenders+1].User != fmt.Sprint("u", maxSenders+1) {
			t.Errorf("got %d records of logins, want the first %d", len(got), allSingles)
		}
		if got, _ := s.of(t, Injection); len(got) != 1 {
			t.Errorf("got %d records of the injection, want it", len(got))
		}
		if got, _ := s.of(t, Request); got[len(got)-1].User != "ann" {
			t.Error("the refusal of ann is not a record")
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		got, said := s.of(t, FloodLogin)
		if len(got) != 1 || said[0].Count != n-allSingles || got[0].Address != "" || got[0].Decision != "deny" {
			t.Fatalf("got %+v, want one record of %d logins", got, n-allSingles)
		}
		for what, v := range map[string]values{"u": said[0].Users, "10.": said[0].Addresses} {
			if len(v.List) != maxShared || v.Other != n-allSingles-maxShared || !strings.HasPrefix(v.List[0].Value, what) {
				t.Errorf("%s: got %d values and %d others", what, len(v.List), v.Other)
			}
		}
	})
}

// Counts of logins and injections stay, as their records do.
func TestOnlyCountsOfRequestsAreRemovable(t *testing.T) {
	for c := range classes {
		want := c == strangers || c == limited
		if got := slices.Contains(removable, c.record()); got != want {
			t.Errorf("%s can be removed: got %t, want %t", c.record(), got, want)
		}
	}
}

// A user's record names the addresses and tokens that were used, not just the first ones.
func TestFloodOfAUser(t *testing.T) {
	for _, tc := range []struct {
		tokens, addresses int
		token, address    string
	}{
		{1, 1, "t0", "192.0.2.0"},
		{3, 2, "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &shelf{}
			l := New(s, "node")
			for i := range limited.singles() + 30 {
				queue(t, l, Event{
					Type: Request, User: "ann", Role: "user", Code: 429, Reasons: []string{RateLimited},
					TokenID: fmt.Sprint("t", i%tc.tokens), Address: fmt.Sprint("192.0.2.", i%tc.addresses),
				})
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			got, said := s.of(t, Flood)
			if len(got) != 1 || got[0].User != "ann" || got[0].Role != "user" || got[0].TokenID != tc.token || got[0].Address != tc.address ||
				len(said[0].Tokens.List) != tc.tokens || len(said[0].Addresses.List) != tc.addresses || said[0].Tokens.List[0].Count != 30/tc.tokens {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// What the timer could not write just before the end is tried again, and the error is told.
func TestFloodThatFailsAtTheEnd(t *testing.T) {
	for _, again := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tried, release, calls := make(chan struct{}), make(chan struct{}), 0
			var got []Event
			f := flood{node: "node", write: func(e []Event) error {
				if calls++; calls == 1 {
					close(tried)
					<-release
					return ErrUnavailable
				}
				if !again {
					return ErrUnavailable
				}
				got = e
				return nil
			}}
			for range singles + 3 {
				e := refusal("192.0.2.7", "/")
				f.take(&e, time.Now())
			}
			<-tried // by the timer, at the end of the minute
			closed := make(chan error)
			go func() { closed <- f.close() }()
			synctest.Wait()
			close(release)
			err := <-closed
			if calls != 2 || again != (err == nil) || again != (len(got) == 1) || !again && !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v and %+v after %d writes", err, got, calls)
			}
			if again && !strings.Contains(got[0].Input, `"count":3`) {
				t.Errorf("got %s, want three", got[0].Input)
			}
			if err := f.close(); err != nil || calls != 2 {
				t.Errorf("a second close: got %v after %d writes", err, calls)
			}
		})
	}
}

// While the log cannot be written, nothing is lost, and one count is kept for a sender.
func TestFloodIsKeptWhileTheLogIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		l := New(s, "node")
		for range singles + 1 {
			queue(t, l, refusal("192.0.2.7", "/one"))
		}
		s.mu.Lock()
		s.full = true
		s.mu.Unlock()
		time.Sleep(2 * floodMinute)
		synctest.Wait()
		for range 3 {
			if err := l.Queue(t.Context(), refusal("192.0.2.7", "/two")); err != nil && !errors.Is(err, ErrUnavailable) {
				t.Fatal(err)
			}
		}
		s.mu.Lock()
		s.full = false
		s.mu.Unlock()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		_, said := s.of(t, Flood)
		if len(said) != 1 || said[0].Count < 1 || said[0].Paths.List[0].Value != "/one" {
			t.Errorf("got %+v, want the count of before", said)
		}
	})
}

// The counts hold no credential, whatever was asked for.
func TestFloodIsRedacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		l := New(s, "node")
		key := "AKIA" + strings.Repeat("Q3XZ", 4)
		for range singles + 2 {
			queue(t, l, refusal("192.0.2.7", "/x/"+key), refusal("192.0.2.8", "/"+strings.Repeat("y", maxValue-100)+"/"+key+"/"+strings.Repeat("z", 500)))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for _, e := range s.events {
			if strings.Contains(e.Input+e.Path, key[:12]) {
				t.Errorf("the record has a key: %s %s", e.Path, e.Input)
			}
		}
	})
}

func TestWhatStrangersSendIsCut(t *testing.T) {
	long := strings.Repeat("é", 1<<19)
	a := Event{Type: LoginFailed, User: long, Address: long, Method: long, Path: long, TokenID: long, RequestID: long, Tool: long, Reasons: []string{long}}
	b := a
	b.Path += "x"
	b.Reasons = []string{long}
	for _, e := range []*Event{&a, &b} {
		if err := prepare(e, "node", time.Now()); err != nil {
			t.Fatal(err)
		}
		if n := len(CanonicalRecord(*e)); n > 8<<10 {
			t.Errorf("the record has %d bytes", n)
		}
		if len(e.Path) > maxPath || !strings.Contains(e.Path, "…[") {
			t.Errorf("got the path %s", e.Path)
		}
	}
	if a.Path == b.Path {
		t.Error("two paths that differ beyond the cut have the same record")
	}
	if short := (Event{Type: Request, Path: strings.Repeat("a", maxPath)}); prepare(&short, "node", time.Now()) != nil || len(short.Path) != maxPath || strings.Contains(short.Path, "sha256") {
		t.Errorf("a path of %d bytes became %q", maxPath, short.Path)
	}
}
