// Package guardrail looks at what an agent answered.
//
//	for _, f := range guardrail.Check(guardrail.Answer{Text: text, Stopped: reason, Calls: calls}) {
//		// f.Check says what is wrong, f.Again whether asking again may help
//	}
//
// It finds answers that are empty, cut off, refusals, running in circles, too long or not of the form that
// was asked for, and those that tell of results which no tool gave. It works by what it can show: the reason
// for which the model stopped, the calls that were made, a repeated piece of text. Words of refusal and of
// claims are known in some languages and not in others. Nothing is kept, so the functions may be called by
// many goroutines; the time that one takes is linear in the text, but for the check of the form, which
// agents/schema bounds.
package guardrail

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/schema"
)

// What can be wrong with an answer.
const (
	Empty   = "empty"   // nothing was said
	Cut     = "cut"     // the model had to stop before the end
	Refused = "refused" // the model, or its server, did not want to answer
	Looping = "looping" // the end says the same again and again
	Form    = "form"    // not of the form that was asked for
	Long    = "long"    // longer than is allowed
	Claim   = "claim"   // tells of a result that no tool gave
)

// Answer is an answer, and how it came about.
type Answer struct {
	Text    string
	Stopped model.Stop      // why the model stopped
	Done    []model.Message // the conversation with the calls and their results
	Form    *schema.Schema  // that was asked for; nil: any
	MaxLen  int             // in bytes; 0: any
}

// Finding is one thing that is wrong.
type Finding struct {
	Check  string `json:"check"`
	Detail string `json:"detail"`
	Again  bool   `json:"again,omitempty"` // asking the model again may help
}

// Check looks at an answer. Without findings there is nothing to say against it.
func Check(a Answer) []Finding {
	text := strings.TrimSpace(a.Text)
	if text == "" {
		return []Finding{{Empty, "the model said nothing", true}}
	}
	var all []Finding
	add := func(check, detail string, again bool) {
		if detail != "" {
			all = append(all, Finding{check, detail, again})
		}
	}
	if a.Stopped == model.StopLength {
		add(Cut, "the model had to stop before the end of its answer", true)
	}
	add(Refused, refusal(text, a.Stopped), true)
	add(Looping, loop(text), true)
	add(Form, a.misfit(text), true)
	if a.MaxLen > 0 && len(a.Text) > a.MaxLen {
		add(Long, fmt.Sprintf("the answer has %d bytes, of %d at most", len(a.Text), a.MaxLen), false)
	}
	add(Claim, claim(text, a.Done), false)
	return all
}

// maxForm bounds the answers whose form is looked at, in bytes.
const maxForm = 256 << 10

// misfit is why a text is not of the form that was asked for; empty: it is.
func (a *Answer) misfit(text string) string {
	if a.Form == nil {
		return ""
	}
	if len(text) > maxForm {
		return fmt.Sprintf("an answer of more than %d KiB is not checked for its form", maxForm>>10)
	}
	if err := fits(a.Form, text); err != nil {
		return "the answer does not have the form that was asked for: " + err.Error()
	}
	return ""
}

// Again is what a model is told whose answer is not used.
func Again(findings []Finding) string {
	var why []string
	for _, f := range findings {
		if f.Again {
			why = append(why, f.Detail)
		}
	}
	return "\n\nYour last answer was not used: " + strings.Join(why, "; ") + ". Answer once more, in full and to the point."
}

// Asked is what a model is told of the form that its answer is to have.
func Asked(form json.RawMessage) string {
	return "\n\nAnswer with one JSON value that fits this JSON Schema, and with nothing around it:\n" + string(form)
}
