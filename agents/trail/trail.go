// Package trail says what was said and what was read in a run, so that the gate knows where the targets of
// a call come from.
//
//	words := trail.Said(history, messages)
//	texts := trail.Read(history, frames)
//
// Both look at whole conversations, also at what models are no longer shown. They are pure and safe for
// concurrent use.
package trail

import (
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy/provenance"
)

// Said are the user's own words: the messages of a thread that a person sent. Only the thread has such
// messages. A sub-agent's task is a model's, though it has the role user.
func Said(thread ...[]model.Message) *provenance.Words {
	var texts []string
	for _, list := range thread {
		for _, m := range list {
			if m.Role == model.RoleUser && len(m.Labels) > 0 && !provenance.Untrusted(m.Labels) {
				texts = append(texts, m.Content)
			}
		}
	}
	return provenance.NewWords(texts...)
}

// Read are the texts that nobody vouches for: results of tools, and all that is labelled as another's.
// frames are the conversations of a run's agents, the top-level agent's first. The others come before it,
// since it has their answers for results.
func Read(history []model.Message, frames [][]model.Message) []provenance.Text {
	var texts []provenance.Text
	add := func(list []model.Message) {
		for _, m := range list {
			if m.Role == model.RoleAssistant || m.Content == "" {
				continue // a model's message has the labels of all it has seen
			}
			if i := lastUntrusted(m.Labels); i >= 0 {
				texts = append(texts, provenance.Text{Source: m.Labels[i], Text: m.Content})
			}
		}
	}
	add(history)
	for i := len(frames) - 1; i > 0; i-- {
		add(frames[i][1:]) // the first is its task, in a model's words
	}
	add(frames[0])
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
