package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner/command"
)

// FuzzParseRules: no file makes the parser panic, every mistake has a place in the file, and what is
// accepted can decide.
func FuzzParseRules(f *testing.F) {
	f.Add(string(builtin))
	for _, when := range []string{
		`any(command.parts, .name == "ss" and "-l" in .args)`, `time.clock >= "18:00"`, `count([agent, tool], "1h") > 3`,
		`sum(arguments.amount, "24h") > 10`, `let x = arguments.a?.b; x != nil`, `{"a": 1}["a"] == 1`, `tool matches "^r" ?: false`,
		`paths[0:1][0] == "x"`, `labels | filter(# startsWith "tool:") | len() > 0`, `if agent == "x" { true } else { false }`,
	} {
		f.Add("- name: r\n  match: {agents: [core]}\n  effect: deny\n  mode: observe\n  message: m\n  when: |\n    " + when + "\n")
		f.Add("- {name: r, effect: approve, approvers: 2, requester: false, message: m, when: '" + when + "'}")
	}
	f.Add("- &a {name: *a}\n- [1, {}, \"\\u0041\"]\n---\n")
	f.Fuzz(func(t *testing.T, doc string) {
		rules, err := parseRules(Source{"f.yaml", []byte(doc)})
		if err != nil {
			m, ok := errors.AsType[*Mistake](err)
			if !ok || m.Line < 0 || m.Line > 2+strings.Count(doc, "\n") {
				t.Fatalf("got %v", err)
			}
			return
		}
		e, err := newEngine(table[:], rules)
		if err != nil {
			t.Fatal(err)
		}
		in := Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "run_command", Action: Use}
		e.Decide(in)
		e.Counters(in)
		e.Explain(in, nil)
		e.Because(in, nil)
	})
}

// FuzzSnapshot: a decision that is made again from its record is the same.
func FuzzSnapshot(f *testing.F) {
	rules, err := parseRules(Source{"test.yaml", []byte(`
- {name: a, match: {categories: [reload]}, effect: approve, approvers: 2, message: m}
- {name: b, effect: deny, message: m, when: 'time.clock >= "18:00" and any(paths, under(#, "docs"))'}
- {name: c, effect: log, mode: observe, message: m, when: 'string(arguments.text) contains "x" or len(findings) > 0'}
- {name: d, effect: approve, message: m, when: 'command.present and any(command.parts, .name == "x" or "x" in .args)'}
- {name: e, effect: deny, message: m, when: '"ops" in principal.groups and count(tool, "1h") > 2'}
- {name: f, effect: log, message: m, when: 'skill == "disks" or action == "mutate" or "remote" in labels'}
`)})
	if err != nil {
		f.Fatal(err)
	}
	e, err := newEngine(table[:], rules)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("x", "docs/a", "ops", int64(1801415400), 60, uint8(7))
	f.Fuzz(func(t *testing.T, text, path, group string, seconds int64, offset int, bits uint8) {
		if !utf8.ValidString(text) || !utf8.ValidString(path) || !utf8.ValidString(group) || offset < -14*60 || offset > 14*60 || seconds < 0 || seconds > 1<<36 {
			t.Skip()
		}
		in := Input{
			Principal: Principal{User: "ada", Role: Roles()[bits%3], Groups: []string{group}, Source: "token"}, Agent: "core", Tool: "t", Skill: "t",
			Action: Actions()[bits>>2%2], Arguments: map[string]any{"text": text, "n": float64(bits)}, Paths: []string{path},
			Labels: []string{"user"}, Time: time.Unix(seconds, 0).In(time.FixedZone("", offset*60)),
		}
		if bits&16 != 0 {
			in.Command = &command.Command{Class: command.ReadOnly, Categories: []string{"reload"}, Parts: []command.Part{{Name: text, Args: []string{path}}}}
		}
		if bits&32 != 0 {
			in.Skill = "disks"
		}
		for _, w := range e.Counters(in) {
			in.Counts = map[string]float64{w.Key: float64(bits & 3)}
		}
		want := e.Decide(in)
		doc, err := json.Marshal(Snap(in, want, func(doc []byte) []byte { return doc }, nil))
		if err != nil {
			t.Fatal(err)
		}
		var s Snapshot
		if err := json.Unmarshal(doc, &s); err != nil {
			t.Fatal(err)
		}
		args, err := json.Marshal(in.Arguments)
		if err != nil {
			t.Fatal(err)
		}
		record := Input{Principal: Principal{User: "ada", Role: in.Principal.Role}, Agent: "core", Tool: "t", Action: Mutate, Labels: in.Labels}
		if err := json.Unmarshal(args, &record.Arguments); err != nil {
			t.Fatal(err)
		}
		again, hidden := s.Restore(record)
		if diff := cmp.Diff(want, e.Decide(again)); diff != "" || hidden != nil {
			t.Errorf("hidden %v: %s", hidden, diff)
		}
	})
}

// FuzzIndex: the index leaves out no rule that evaluating all of them would find, and the order of the
// rules stays.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(3))
	f.Add([]byte("every rule has four lists of a few names"), uint8(200))
	names := []string{"a", "b", "c", Any}
	pick := func(bits byte) []string {
		var list []string
		for i, name := range names {
			if bits&(1<<i) != 0 {
				list = append(list, name)
			}
		}
		return list
	}
	f.Fuzz(func(t *testing.T, shape []byte, call uint8) {
		var rules []rule
		for i := 0; i+3 < len(shape) && i < 400; i += 4 {
			m := match{Agents: pick(shape[i]), Tools: pick(shape[i+1]), Categories: pick(shape[i+2])}
			if shape[i+3]&1 != 0 {
				m.Actions = []string{string(Actions()[shape[i+3]>>4%5])}
			}
			rules = append(rules, rule{
				Phase: OnCall,
				Name:  fmt.Sprintf("r%d", i), Match: m, Effect: []Effect{Log, Approve, Deny}[shape[i+3]%3], Mode: []Mode{Enforce, Observe}[shape[i+3]>>3&1],
				Message: "m", Approvers: int(shape[i+3] % 4), Requester: shape[i+3]&4 != 0,
			})
		}
		indexed, err := newEngine(table[:], rules)
		if err != nil {
			t.Fatal(err)
		}
		all := *indexed
		all.index = index{}
		for i := range rules {
			all.index.always = append(all.index.always, i)
		}
		in := Input{
			Principal: Principal{Role: Admin}, Agent: names[call&3], Tool: names[call>>2&3], Action: Actions()[call>>4%5],
			Categories: pick(call >> 4 & 7), Command: &command.Command{Class: command.ReadOnly, Categories: pick(call >> 2 & 7)},
		}
		if diff := cmp.Diff(all.Decide(in), indexed.Decide(in)); diff != "" {
			t.Error(diff)
		}
	})
}
