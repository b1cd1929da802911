package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/command/usage"
)

// Understood is how the words of a simple command were understood.
type Understood struct {
	Name   string         `json:"name"`
	Class  Class          `json:"class"`
	Reason string         `json:"reason,omitempty"` // why it is not read_only
	Words  []WordOfAnswer `json:"words,omitempty"`
	Traits []string       `json:"traits,omitempty"`
}

// WordOfAnswer is a word of a command with what it is to the program.
type WordOfAnswer struct {
	Text string `json:"text"`
	Role string `json:"role"`
	Made bool   `json:"made,omitempty"` // the word that made the class what it is
}

// Explain analyses a command line as [Analyze] does, and says of each simple command in it how its words
// were understood, in the order in which they were judged.
func Explain(text string) (Command, []Understood) {
	a := newAnalysis(text)
	a.explained = &[]Understood{}
	return a.run(), *a.explained
}

// usageWords returns arguments as package usage wants them.
func usageWords(args []arg) []usage.Word {
	words := make([]usage.Word, len(args))
	for i, a := range args {
		words[i] = usage.Word{Text: a.text, Fixed: !a.dynamic && !a.glob && !a.unsure, Split: a.split}
		if !words[i].Fixed {
			words[i].Head = a.text[:min(max(a.sure, 0), len(a.text))]
			if hole := strings.Index(words[i].Head, notYet); hole >= 0 {
				words[i].Head = words[i].Head[:hole]
			}
			words[i].Many = a.glob
		}
	}
	return words
}

// prove asks whether the grammar of a program accounts for each word of a command. judged says that this
// proves nothing of what the program is given: statements, commands of a server.
func (w *shell) prove(name string, args []arg) (r usage.Reading, known bool) {
	if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		name, args = "type", args[1:]
	}
	r, known = usage.Read(name, usageWords(args))
	w.trait(r.Traits)
	return r, known
}

// trait notes traits of the line. What is only probable is noted too.
func (w *shell) trait(t usage.Trait) { w.traits |= t }

// explain notes how a command was understood.
func (w *shell) explain(name string, args []arg, r usage.Reading, v verdict) {
	if w.explained == nil || w.guessing > 0 {
		return
	}
	u := Understood{Name: name, Class: v.class, Reason: v.reason, Traits: r.Traits.Names()}
	if u.Class == ReadOnly {
		u.Reason = ""
	}
	for i, a := range args {
		role := usage.Unlooked
		if i < len(r.Roles) {
			role = r.Roles[i]
		}
		u.Words = append(u.Words, WordOfAnswer{a.written(), string(role), !r.Reads && r.Word == i+1})
	}
	*w.explained = append(*w.explained, u)
}
