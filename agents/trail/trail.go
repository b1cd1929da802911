// Package trail says who said what an agent knows: the user's own words, and what nobody vouches for. The policy
// traces with it where the targets of a call come from. Nothing in it has state.
package trail

import (
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy/provenance"
)

// Said are the user's own words in lists of messages: those that a person sent.
func Said(lists ...[]model.Message) *provenance.Words {
	var texts []string
	for _, list := range lists {
		for _, m := range list {
			if m.Role == model.RoleUser && len(m.Labels) > 0 && !provenance.Untrusted(m.Labels) {
				texts = append(texts, m.Content)
			}
		}
	}
	return provenance.NewWords(texts...)
}

// Read are the texts in lists of messages that nobody vouches for: results of tools, and all that is labelled
// as another's.
func Read(lists ...[]model.Message) []provenance.Text {
	var texts []provenance.Text
	for _, list := range lists {
		for _, m := range list {
			if m.Role == model.RoleAssistant || m.Content == "" {
				continue // a model's message has the labels of all it has seen
			}
			if i := lastUntrusted(m.Labels); i >= 0 {
				texts = append(texts, provenance.Text{Source: m.Labels[i], Text: m.Content})
			}
		}
	}
	return texts
}

// lastUntrusted is the place of the last label that is not the user's: the answer of a sub-agent has
// the label of the delegation first, and then those of what the sub-agent read.
func lastUntrusted(labels []string) int {
	for i := range slices.Backward(labels) {
		if !provenance.Trusted(labels[i]) {
			return i
		}
	}
	return -1
}
