package policy

import (
	"strings"
	"testing"
)

func TestCondition(t *testing.T) {
	ursula := Principal{User: "ursula", Role: User, Groups: []string{"netops", "dev"}, Source: SourceLDAP, Address: "192.0.2.7"}
	request := Request{Method: "POST", Scheme: "https", Host: "gw.example:2280", Path: "/runs/stream", Query: "a=1"}
	for text, want := range map[string]bool{
		`principal.role == "user"`:  true,
		`principal.role == "admin"`: false,
		`may("mutate")`:             true,
		`may("install")`:            false,
		`"netops" in principal.groups && principal.source == "ldap"`:           true,
		`request.method in ["GET", "HEAD"]`:                                    false,
		`request.path startsWith "/runs/" and not (request.query == "")`:       true,
		`request.scheme == "https" and request.host endsWith ":2280"`:          true,
		`principal.user == "ursula" and principal.address == "192.0.2.7"`:      true,
		`any(principal.groups, # matches "^net") ? may("use") : may("mutate")`: true,
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := c.Holds(ursula, request); err != nil || got != want {
			t.Errorf("%s: got %t, %v, want %t", text, got, err, want)
		}
	}
}

func TestConditionMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "empty",
		`principal.rôle == "x"`:       "rôle",
		`principal.token == "x"`:      "token",
		`principal.role = "admin"`:    "unexpected",
		`principal.role`:              "bool",
		`may("fly")`:                  `may("fly"): unknown action`,
		`may()`:                       "argument",
		`now().Year() > 2000`:         "now",
		`request.header.x == "admin"`: "header",
	} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}

// A condition that fails while it is evaluated never holds.
func TestConditionThatCannotBeEvaluated(t *testing.T) {
	c, err := ParseCondition(`principal.groups[5] == "x"`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Holds(Principal{}, Request{}); got || err == nil {
		t.Errorf("got %t, %v, want an error", got, err)
	}
}

func BenchmarkCondition(b *testing.B) {
	c, err := ParseCondition(`principal.role == "admin" or "netops" in principal.groups`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := c.Holds(Principal{Role: User, Groups: []string{"netops"}}, Request{}); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
