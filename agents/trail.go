package agents

import (
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/trail"
	"github.com/svc-gateway/svc/policy/provenance"
)

func said(history []model.Message, r *Run) *provenance.Words {
	return trail.Said(history, r.Frames[0].Messages)
}

func read(history []model.Message, r *Run) []provenance.Text {
	frames := make([][]model.Message, len(r.Frames))
	for i := range r.Frames {
		frames[i] = r.Frames[i].Messages
	}
	texts := trail.Read(history, frames)
	for i := range r.Frames {
		if k := r.Frames[i].Known; k != nil && k.Entries > 0 {
			texts = append(texts, provenance.Text{Source: "memory", Text: k.Text})
		}
	}
	return texts
}
