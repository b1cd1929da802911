package policy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/command"
)

// Snapshot is what a decision depended on beside what its record holds anyway (agent, tool, action,
// user, role, arguments, labels, findings). Together they make the [Input] again, so that another
// policy can be asked what it would have decided. It holds no secret: those are replaced by keyed
// hashes, and Hidden names them.
type Snapshot struct {
	Time       time.Time           `json:"time"`
	Skill      string              `json:"skill,omitempty"`    // unless it is the tool's name
	Revision   string              `json:"revision,omitempty"` // of what the tool runs, where that can change
	Source     string              `json:"source,omitempty"`
	Groups     []string            `json:"groups,omitempty"`
	Declared   Action              `json:"declared,omitempty"`
	Class      command.Class       `json:"class,omitempty"` // of the command; empty without one
	Confined   bool                `json:"confined,omitempty"`
	Traits     []string            `json:"traits,omitempty"`
	Parts      []command.Part      `json:"parts,omitempty"`
	Dangers    []string            `json:"dangers,omitempty"`    // categories of the command
	Categories []string            `json:"categories,omitempty"` // of the call
	Paths      []string            `json:"paths,omitempty"`
	Targets    []provenance.Target `json:"targets,omitempty"`
	Counts     map[string]float64  `json:"counts,omitempty"`
	Hidden     map[string]string   `json:"hidden,omitempty"` // dotted path of what is no longer there: its keyed hash
	Effect     Effect              `json:"effect,omitempty"` // what the policy said
	Rule       string              `json:"rule,omitempty"`
	Observed   []Verdict           `json:"observed,omitempty"`
}

// Snap takes a snapshot of an input and what was decided on it. redact replaces the secrets of a JSON
// document, and key makes the hashes that stand for them; equal secrets have equal hashes.
func Snap(in Input, d Decision, redact func([]byte) []byte, key []byte) Snapshot {
	s := Snapshot{
		Time: in.Time.Round(0).Truncate(time.Millisecond), Revision: in.Revision, Source: in.Principal.Source, Groups: in.Principal.Groups,
		Declared: in.Action, Categories: in.Categories, Counts: in.Counts,
		Effect: d.Effect, Rule: d.Rule, Observed: d.Observed,
	}
	if in.Skill != in.Tool {
		s.Skill = in.Skill
	}
	h := hider{redact: redact, key: key}
	h.compare("arguments", in.Arguments)
	s.Paths = h.list("paths", in.Paths)
	s.Targets = h.targets(in.Targets)
	if c := in.Command; c != nil {
		s.Class, s.Confined, s.Traits, s.Dangers = c.Class, c.Confined, c.Traits, c.Categories
		s.Parts = make([]command.Part, len(c.Parts))
		for i, p := range c.Parts {
			at := "command.parts." + strconv.Itoa(i)
			s.Parts[i] = command.Part{Name: h.text(at+".name", p.Name), Args: h.words(at+".args", p), Dynamic: p.Dynamic}
		}
	}
	if s.Hidden = h.hidden; len(s.Hidden) > 0 {
		s.Counts = nil // their keys are hashes of what may be a short secret
	}
	return s
}

// Restore adds the snapshot to what a record holds of the input. hidden names what it no longer
// holds, as [Engine.Reads] takes it.
func (s Snapshot) Restore(in Input) (_ Input, hidden [][]string) {
	in.Time, in.Skill, in.Revision, in.Categories, in.Paths, in.Counts = s.Time, s.Skill, s.Revision, s.Categories, s.Paths, s.Counts
	in.Targets = s.Targets
	in.Principal.Source, in.Principal.Groups = s.Source, s.Groups
	if s.Declared != "" {
		in.Action = s.Declared
	}
	if in.Skill == "" {
		in.Skill = in.Tool
	}
	if s.Class != "" {
		in.Command = &command.Command{Class: s.Class, Confined: s.Confined, Traits: s.Traits, Categories: s.Dangers, Parts: s.Parts}
	}
	for path := range s.Hidden {
		hidden = append(hidden, strings.Split(path, "."))
	}
	return in, hidden
}

// Reads reports whether a rule that selects the call reads one of the hidden parts of its input, so
// that what it makes of the call is not certain.
func (e *Engine) Reads(in Input, hidden [][]string) bool {
	if e == nil || len(hidden) == 0 {
		return false
	}
	q := ask(&in)
	var room [16]int
	return slices.ContainsFunc(e.index.candidates(room[:0], &in, &q), func(n int) bool {
		r := &e.rules[n]
		return r.expression != nil && r.Match.selects(&in, &q) && slices.ContainsFunc(hidden, r.expression.touches)
	})
}

// hider finds what a record may not hold.
//
// The command and the paths are made of the arguments. A secret that is known by the words around it
// (password=…) may stand alone in them, so that nothing of them is kept once there is a secret in the
// arguments.
type hider struct {
	redact func([]byte) []byte
	key    []byte
	hidden map[string]string
}

// secretive reports whether the redactor finds a secret in the arguments.
func secretive(in *Input, redact func([]byte) []byte) bool {
	h := hider{redact: redact}
	h.compare("arguments", in.Arguments)
	return len(h.hidden) > 0
}

// compare notes what the redactor changes in a value of JSON.
func (h *hider) compare(at string, v map[string]any) {
	if len(v) == 0 || h.redact == nil {
		return
	}
	doc, err := json.Marshal(v)
	if err != nil {
		h.hide(at, []byte(err.Error()))
		return
	}
	var shown any
	if err := json.Unmarshal(h.redact(doc), &shown); err != nil {
		h.hide(at, doc)
		return
	}
	var was any
	if err := json.Unmarshal(doc, &was); err != nil {
		h.hide(at, doc)
		return
	}
	h.differ(at, was, shown)
}

func (h *hider) differ(at string, was, shown any) {
	a, isMap := was.(map[string]any)
	b, stayed := shown.(map[string]any)
	if isMap && stayed && len(a) == len(b) {
		for name, v := range a {
			below := at + "." + name
			if strings.Contains(name, ".") {
				below = at // a path cannot name it alone
			}
			h.differ(below, v, b[name])
		}
		return
	}
	before, _ := json.Marshal(was) // both came from JSON
	after, _ := json.Marshal(shown)
	if string(before) != string(after) {
		h.hide(at, before)
	}
}

func (h *hider) hide(at string, secret []byte) string {
	mac := hmac.New(sha256.New, h.key)
	mac.Write(secret)
	sum := "hmac:" + hex.EncodeToString(mac.Sum(nil)[:12])
	if h.hidden == nil {
		h.hidden = map[string]string{}
	}
	h.hidden[at] = sum
	return sum
}

// text returns s, which was made of the arguments, or a keyed hash when it may hold a secret.
func (h *hider) text(at, s string) string {
	if h.redact == nil || s == "" {
		return s
	}
	if len(h.hidden) > 0 {
		return h.hide(at, []byte(s))
	}
	doc, err := json.Marshal([]string{s})
	var shown []string
	if err != nil || json.Unmarshal(h.redact(doc), &shown) != nil || len(shown) != 1 || shown[0] != s {
		return h.hide(at, []byte(s))
	}
	return s
}

func (h *hider) list(at string, all []string) []string {
	if len(all) == 0 {
		return nil
	}
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = h.text(at+"."+strconv.Itoa(i), s)
	}
	return list
}

// targets returns the targets of the call. A fragment is shown only where nothing is hidden: no rule
// reads it, and it may hold what is.
func (h *hider) targets(all []provenance.Target) []provenance.Target {
	if len(all) == 0 {
		return nil
	}
	list := make([]provenance.Target, len(all))
	for i, t := range all {
		list[i] = provenance.Target{
			Argument: t.Argument, Kind: t.Kind, Value: h.text("targets."+strconv.Itoa(i)+".value", t.Value), Source: t.Source,
		}
		shown := hider{redact: h.redact}
		if shown.text("", t.Fragment); len(h.hidden)+len(shown.hidden) == 0 {
			list[i].Fragment = t.Fragment
		}
	}
	return list
}

// words returns the arguments of a command. A secret may be a word by itself that only the words
// before it make known: the whole line is looked at as well.
func (h *hider) words(at string, p command.Part) []string {
	args := h.list(at, p.Args)
	line := strings.Join(append([]string{p.Name}, p.Args...), " ")
	if h.redact == nil || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "hmac:") }) {
		return args
	}
	doc, err := json.Marshal([]string{line})
	var shown []string
	if err == nil && json.Unmarshal(h.redact(doc), &shown) == nil && len(shown) == 1 && shown[0] == line {
		return args
	}
	return []string{h.hide(at, []byte(line))}
}
