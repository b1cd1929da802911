package redact

import (
	"slices"

	"github.com/svc-gateway/svc/scanner/jsonscan"
)

// Allowed is what stays although rules would take it. Known secrets go everywhere. The zero value
// allows nothing.
type Allowed struct {
	// Rules are the names of rules that find nothing, of [RuleNames].
	Rules []string

	// Fields are members of JSON that stay with all below them: a name, wherever it stands, or a path
	// from the top with dots, in which * is any key and any element of an array. Case matters in paths
	// only.
	Fields []string

	// Signed says that the thinking of a model stays where its provider signs it: the text, signature
	// and data of content blocks of the types thinking and redacted_thinking, and of the pieces that
	// streams make of them. A provider refuses a block that was changed.
	Signed bool

	// All says that no rule finds anything.
	All bool
}

// Finding is something that is taken away, or would be.
type Finding struct {
	Rule string // its name, one of RuleNames; KnownSecret for a registered value
	Path string // in JSON, with slashes; empty elsewhere
}

// KnownSecret is the rule of registered values.
const KnownSecret = "known_secret"

// namedValue is the rule of members that another member, or the object around, names as a secret.
const namedValue = "named_value"

// RuleNames returns the names of all rules, sorted.
func RuleNames() []string {
	names := []string{KnownSecret, namedValue, guardedValue.name, scatteredValue.name, shortValue.name, sparedValue.name}
	for i := range rules {
		names = append(names, rules[i].name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Watched returns a set of the same values for one stream after the other, which leaves what is
// allowed and tells found what is taken. Both may be nil. What is registered with s later is not part
// of it.
func (s *Secrets) Watched(a *Allowed, found func(Finding)) *Secrets {
	w := &Secrets{}
	w.forms.Store(s.load())
	if a != nil || found != nil {
		w.watch = &watch{allowed: a, found: found}
	}
	return w
}

// Known is [Secrets.Redact] without any rule: it takes the registered values only.
func (s *Secrets) Known(text string) string {
	if s.load().Clean([]byte(text)) {
		return text
	}
	r := s.TextStream()
	r.off = true
	out := r.Append(make([]byte, 0, len(text)+len(Mark)), []byte(text))
	return string(r.Close(out))
}

// watch is what the streams of a set leave, and whom they tell. It serves one stream at a time.
type watch struct {
	allowed *Allowed
	found   func(Finding)
	path    []byte // of the open value
}

// all reports whether no rule finds anything.
func (w *watch) all() bool { return w != nil && w.allowed != nil && w.allowed.All }

// leaves reports whether a rule finds nothing.
func (w *watch) leaves(rule string) bool {
	return w != nil && w.allowed != nil && slices.Contains(w.allowed.Rules, rule)
}

// note tells of something that a rule takes.
func (w *watch) note(rule string) {
	if w != nil && w.found != nil {
		w.found(Finding{Rule: rule, Path: jsonscan.PathText(w.path)})
	}
}

// at says where the next finding is.
func (w *watch) at(path []byte) {
	if w != nil && w.found != nil {
		w.path = path
	}
}

// leavesSigned reports whether what a provider signed stays.
func (w *watch) leavesSigned() bool { return w != nil && w.allowed != nil && w.allowed.Signed }

// leavesField reports whether the member at a path stays.
func (w *watch) leavesField(path []byte) bool {
	if w == nil || w.allowed == nil {
		return false
	}
	return slices.ContainsFunc(w.allowed.Fields, func(field string) bool { return jsonscan.Fits(field, path) })
}

// know makes the text one of a set of secrets.
func (r *TextStream) know(s *Secrets) { r.finder.from, r.watch = s, s.watcher() }

// know makes the texts those of a set of secrets.
func (t *jsonText) know(s *Secrets) { t.finder.from, t.watch = s, s.watcher() }

func (s *Secrets) watcher() *watch {
	if s == nil {
		return nil
	}
	return s.watch
}
