package mcp

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy"
)

func newTestSeals(t *testing.T, secret string, now time.Time) *seals {
	t.Helper()
	s, err := newSeals([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return now }
	return s
}

// TestStateIsForOneCallerCallAndTime tells the attacks on what a client gives back.
func TestStateIsForOneCallerCallAndTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ada := policy.Principal{User: "ada", Role: policy.Admin}
	c := call{"run_command", json.RawMessage(`{"command":"reboot","x":1}`)}
	good := func(s *seals) string {
		text, err := s.seal(state{Run: "r", Approval: "a", Expires: now.Add(time.Minute)}, ada, c)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, tc := range []struct {
		name string
		open func(s *seals) error
		ok   bool
	}{
		{"as it was given", func(s *seals) error { _, err := s.open(good(s), ada, c); return err }, true},
		{"arguments in another order", func(s *seals) error {
			_, err := s.open(good(s), ada, call{c.Name, json.RawMessage(`{ "x":1, "command":"reboot" }`)})
			return err
		}, true},
		{"another caller", func(s *seals) error {
			_, err := s.open(good(s), policy.Principal{User: "bob", Role: policy.Admin}, c)
			return err
		}, false},
		{"for another user", func(s *seals) error {
			_, err := s.open(good(s), policy.Principal{User: "ada", Role: policy.Admin, OnBehalfOf: "bob"}, c)
			return err
		}, false},
		{"other arguments", func(s *seals) error {
			_, err := s.open(good(s), ada, call{c.Name, json.RawMessage(`{"command":"rm -rf /","x":1}`)})
			return err
		}, false},
		{"another tool", func(s *seals) error { _, err := s.open(good(s), ada, call{"write_file", c.Arguments}); return err }, false},
		{"twice", func(s *seals) error {
			text := good(s)
			if _, err := s.open(text, ada, c); err != nil {
				return err
			}
			_, err := s.open(text, ada, c)
			return err
		}, false},
		{"too late", func(s *seals) error {
			text := good(s)
			s.now = func() time.Time { return now.Add(time.Minute) }
			_, err := s.open(text, ada, c)
			return err
		}, false},
		{"changed", func(s *seals) error {
			text := []byte(good(s))
			text[len(text)/2] ^= 1
			_, err := s.open(string(text), ada, c)
			return err
		}, false},
		{"of another service", func(s *seals) error {
			_, err := s.open(good(newTestSeals(t, "another secret", now)), ada, c)
			return err
		}, false},
		{"nothing", func(s *seals) error { _, err := s.open("", ada, c); return err }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.open(newTestSeals(t, "a secret", now)); (err == nil) != tc.ok {
				t.Errorf("got %v, want it taken: %t", err, tc.ok)
			}
		})
	}
}

func TestStatesAreForgotten(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := newTestSeals(t, "a secret", now)
	for range 100 {
		text, err := s.seal(state{Expires: now.Add(time.Second)}, policy.Principal{User: "ada"}, call{"x", json.RawMessage("{}")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.open(text, policy.Principal{User: "ada"}, call{"x", json.RawMessage("{}")}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
		s.now = func() time.Time { return now }
	}
	if n := len(s.used); n > 2 {
		t.Errorf("%d states are remembered whose time is over", n)
	}
}

// FuzzOpen: nothing but what was sealed is a state.
func FuzzOpen(f *testing.F) {
	s, err := newSeals([]byte("a secret"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("rEXCmjwPRz65gggm3SXeQMIr2leGDCpJurZhbmVGhYg3Wue0nbRskdduX6vTfsoDZHT8axXKxxW06")
	f.Fuzz(func(t *testing.T, text string) {
		if st, err := s.open(text, policy.Principal{}, call{"x", json.RawMessage("{}")}); err == nil {
			t.Errorf("got %+v of %q", st, text)
		}
	})
}

func TestContradicted(t *testing.T) {
	doc := map[string]any{"method": "tools/call", "params": map[string]any{"name": "echo"}}
	for _, tc := range []struct {
		name   string
		header http.Header
		ok     bool
	}{
		{"none", http.Header{}, true},
		{"the same", http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"echo"}}, true},
		{"another method", http.Header{"Mcp-Method": {"tools/list"}}, false},
		{"another name", http.Header{"Mcp-Name": {"ech0"}}, false},
		{"twice", http.Header{"Mcp-Name": {"echo", "echo"}}, false},
		{"empty", http.Header{"Mcp-Name": {""}}, false},
	} {
		if why := contradicted(tc.header, doc); (why == "") != tc.ok {
			t.Errorf("%s: got %q", tc.name, why)
		}
	}
	if why := contradicted(http.Header{"Mcp-Name": {"echo"}}, map[string]any{"method": "tools/list"}); why == "" {
		t.Error("a name where the body has none passes")
	}
}
