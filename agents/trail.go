package agents

import (
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy/provenance"
)

// said are the user's own words in a run: the messages of its thread that a person sent. Only the
// thread has such messages. A sub-agent's task is a model's, though it has the role user.
func said(history []model.Message, r *Run) *provenance.Words {
	var texts []string
	for _, list := range [][]model.Message{history, r.Frames[0].Messages} {
		for _, m := range list {
			if m.Role == model.RoleUser && len(m.Labels) > 0 && !provenance.Untrusted(m.Labels) {
				texts = append(texts, m.Content)
			}
		}
	}
	return provenance.NewWords(texts...)
}

// read are the texts in a run that nobody vouches for: results of tools, and all that is labelled as
// another's. Sub-agents come before the top-level agent, which has their answers for results.
func read(history []model.Message, r *Run) []provenance.Text {
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
	for i := len(r.Frames) - 1; i > 0; i-- {
		add(r.Frames[i].Messages[1:]) // the first is its task, in a model's words
	}
	add(r.Frames[0].Messages)
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
