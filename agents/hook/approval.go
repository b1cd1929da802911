package hook

import (
	"encoding/json"
	"fmt"
)

// Approval is what the commands of hitl.requested and hitl.decision are told, as JSON in
// SVC_HOOK_EVENT.
type Approval struct {
	Approval string `json:"approval"` // its id
	Tool     string `json:"tool"`
	Agent    string `json:"agent"`
	User     string `json:"user"`     // who asked; for a decision who decided, empty when the time ran out
	Decision string `json:"decision"` // pending, then approved, edited, rejected or expired
}

// pending is the decision of an approval that is asked for.
const pending = "pending"

// Requested fires hitl.requested: a call waits for a person. The decision is pending, whatever a says.
func (h *Hooks) Requested(a Approval) {
	a.Decision = pending
	h.tell(HITLRequested, "event", h.document(a))
}

// Decided fires hitl.decision: an approval was decided, by a person or by the clock.
func (h *Hooks) Decided(a Approval) { h.tell(HITLDecision, "event", h.document(a)) }

// document is the approval as JSON of at most maxValue bytes, without credentials.
func (h *Hooks) document(a Approval) string {
	fields := []*string{&a.Approval, &a.Tool, &a.Agent, &a.User, &a.Decision}
	for _, f := range fields {
		*f = h.value(*f)
	}
	// A byte takes up to six in JSON, so that 128 of each field fit in any case.
	for most := maxValue; ; most /= 2 {
		for _, f := range fields {
			*f = shorten(*f, most)
		}
		doc, err := json.Marshal(a)
		if err != nil {
			panic(fmt.Errorf("encoding an approval: %w", err)) // strings always encode
		}
		if len(doc) <= maxValue {
			return string(doc)
		}
	}
}
