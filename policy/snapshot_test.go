package policy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner/command"
)

func hideSecret(doc []byte) []byte {
	return bytes.ReplaceAll(doc, []byte("hunter2"), []byte("REDACTED"))
}

func TestSnapshot(t *testing.T) {
	in := Input{
		Principal: Principal{User: "ada", Role: User, Groups: []string{"ops"}, Source: "ldap"},
		Agent:     "core", Tool: "run_command", Skill: "disks", Action: Use,
		Arguments:  map[string]any{"command": "login -p hunter2", "deep": map[string]any{"token": "hunter2", "n": 3.0}, "dotted.name": "hunter2"},
		Command:    &command.Command{Class: command.Mutate, Confined: true, Categories: []string{"reload"}, Traits: []string{command.ReadsSecret}, Parts: []command.Part{{Name: "login", Args: []string{"-p", "hunter2"}}, {Name: "df"}}},
		Categories: []string{"c"}, Paths: []string{"docs/a", "hunter2"}, Time: evening(t, "18:30"),
		Counts: map[string]float64{"r/count/1h/x": 3},
	}
	s := Snap(in, Decision{Effect: Deny, Rule: "r", Observed: []Verdict{{"o", Log}}}, hideSecret, []byte("key"))
	doc, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(doc), "hunter2") {
		t.Errorf("the secret is in it: %s", doc)
	}
	var hidden []string
	for path, hash := range s.Hidden {
		hidden = append(hidden, path)
		if !strings.HasPrefix(hash, "hmac:") {
			t.Errorf("%s: got %q", path, hash)
		}
	}
	slices.Sort(hidden)
	// what was made of the arguments goes with them: hunter2 may be a secret by the words around it only
	want := []string{
		"arguments", "arguments.command", "arguments.deep.token", "command.parts.0.args.0", "command.parts.0.args.1", "command.parts.0.name",
		"command.parts.1.name", "paths.0", "paths.1",
	}
	if diff := cmp.Diff(want, hidden); diff != "" {
		t.Error(diff)
	}
	other := Snap(in, Decision{}, hideSecret, []byte("another"))
	if s.Hidden["paths.1"] == other.Hidden["paths.1"] || s.Hidden["paths.1"] != s.Paths[1] {
		t.Errorf("got the hashes %q and %q, the path %q", s.Hidden["paths.1"], other.Hidden["paths.1"], s.Paths[1])
	}

	var stored Snapshot
	if err := json.Unmarshal(doc, &stored); err != nil {
		t.Fatal(err)
	}
	again, parts := stored.Restore(Input{
		Principal: Principal{User: "ada", Role: User}, Agent: "core", Tool: "run_command", Action: Mutate, Arguments: in.Arguments,
	})
	if len(parts) != len(want) {
		t.Errorf("got %d hidden parts, want %d", len(parts), len(want))
	}
	expected := in
	expected.Paths, expected.Counts = []string{s.Hidden["paths.0"], s.Hidden["paths.1"]}, nil
	c := *in.Command
	c.Parts = []command.Part{
		{Name: s.Hidden["command.parts.0.name"], Args: []string{s.Hidden["command.parts.0.args.0"], s.Hidden["command.parts.0.args.1"]}},
		{Name: s.Hidden["command.parts.1.name"]},
	}
	expected.Command, again.Time, expected.Time = &c, again.Time.UTC(), in.Time.UTC()
	if diff := cmp.Diff(expected, again); diff != "" {
		t.Error(diff)
	}
}

// Nothing of the record is needed twice: a plain call has a short snapshot.
func TestSnapshotIsShort(t *testing.T) {
	in := Input{
		Principal: Principal{User: "ada", Role: User, Source: "token"}, Agent: "core", Tool: "run_command", Skill: "run_command", Action: Use,
		Arguments: map[string]any{"command": "df -h"}, Time: evening(t, "18:30"),
		Command: &command.Command{Class: command.ReadOnly, Parts: []command.Part{{Name: "df", Args: []string{"-h"}}}},
	}
	doc, err := json.Marshal(Snap(in, Decision{Effect: Allow}, hideSecret, nil))
	if err != nil || len(doc) > 180 {
		t.Errorf("got %d bytes, %v, want 180 at most: %s", len(doc), err, doc)
	}
}

func TestReads(t *testing.T) {
	in := Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "x", Action: Use}
	for when, want := range map[string]bool{
		`arguments.password == "x"`:         true,
		`arguments["password"] == "x"`:      true,
		`arguments?.password == "x"`:        true,
		`len(arguments) > 1`:                true,
		`arguments[agent] == "x"`:           true,
		`arguments.deep.token == "x"`:       true,
		`arguments.deep.other == "x"`:       false,
		`string(arguments.deep) == "x"`:     true,
		`arguments.name == "x"`:             false,
		`tool == "x"`:                       false,
		`let a = arguments; a.name == "x"`:  true,
		`any(command.parts, .name == "ss")`: true,
		`command.class == "mutate"`:         false,
	} {
		e := withRules(t, "[{name: r, effect: log, message: m, when: '"+when+"'}]")
		hidden := [][]string{{"arguments", "password"}, {"arguments", "deep", "token"}, {"command", "parts", "0", "args"}}
		if got := e.Reads(in, hidden); got != want {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
		if e.Reads(in, nil) {
			t.Errorf("%s reads what is not hidden", when)
		}
	}
	e := withRules(t, "[{name: r, match: {tools: [y]}, effect: log, message: m, when: 'arguments.password == \"x\"'}]")
	if e.Reads(in, [][]string{{"arguments", "password"}}) {
		t.Error("a rule reads that does not select the call")
	}
}
