package model

import (
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
)

// thought is a block of an answer as it is kept in [Thinking]: a thought, or a mark for the text or the call that
// stood in its place.
type thought struct {
	Type      string `json:"type"` // thinking, redacted_thinking, text, tool_use
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Bytes     int    `json:"bytes,omitempty"` // of a text
}

// maxThinking bounds what is kept of the thoughts of one answer, in bytes.
const maxThinking = 1 << 20

// think asks for thoughts. A model that has to begin with some, and whose calls came without, since another model
// made them, cannot think until the user speaks again.
func (a *anthropicModel) think(p *anthropic.MessageNewParams) {
	switch {
	case a.Adaptive:
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{}
	case a.Thinking > 0 && !thoughtless(p.Messages):
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(int64(a.Thinking))
		p.MaxTokens += int64(a.Thinking) // which are of the same count
	}
}

// thoughtless reports whether the last message has results of calls that were made without a thought before them.
func thoughtless(list []anthropic.MessageParam) bool {
	n := len(list)
	if n < 2 || list[n-1].Content[0].OfToolResult == nil {
		return false
	}
	first := list[n-2].Content[0]
	return first.OfThinking == nil && first.OfRedactedThinking == nil
}

// blocks are what an assistant message is sent as: with the thoughts in their places, if this model had them and
// the message is still what it was.
func (a *anthropicModel) blocks(m Message) []anthropic.ContentBlockParamUnion {
	if t := m.Thinking; t != nil && t.By == a.by && (a.Thinking > 0 || a.Adaptive) {
		if blocks, ok := woven(m); ok {
			return blocks
		}
	}
	blocks := texts(m.Content)
	for _, c := range m.ToolCalls {
		blocks = append(blocks, toolUse(c))
	}
	return blocks
}

// woven puts the thoughts of a message between its texts and calls.
func woven(m Message) (blocks []anthropic.ContentBlockParamUnion, ok bool) {
	rest, calls := m.Content, m.ToolCalls
	for _, raw := range m.Thinking.Blocks {
		var t thought
		if json.Unmarshal(raw, &t) != nil {
			return nil, false
		}
		switch t.Type {
		case "thinking":
			blocks = append(blocks, anthropic.NewThinkingBlock(t.Signature, t.Thinking))
		case "redacted_thinking":
			blocks = append(blocks, anthropic.NewRedactedThinkingBlock(t.Data))
		case "text":
			if t.Bytes < 0 || t.Bytes > len(rest) {
				return nil, false
			}
			blocks, rest = append(blocks, texts(rest[:t.Bytes])...), rest[t.Bytes:]
		case "tool_use":
			if len(calls) == 0 {
				return nil, false
			}
			blocks, calls = append(blocks, toolUse(calls[0])), calls[1:]
		default:
			return nil, false
		}
	}
	return blocks, rest == "" && len(calls) == 0
}

// kept is what is kept of the thoughts among the blocks of an answer; nil when there are none.
func (a *anthropicModel) kept(blocks []*anthropicBlock) *Thinking {
	t, any := &Thinking{By: a.by}, false
	for _, b := range blocks {
		one := thought{Type: b.kind}
		switch b.kind {
		case "thinking", "redacted_thinking":
			one.Thinking, one.Signature, one.Data, any = b.text.String(), b.signature, b.data, true
		case "text":
			one.Bytes = b.text.Len()
		case "tool_use":
		default:
			continue
		}
		raw, err := json.Marshal(one)
		if err != nil {
			return nil // texts always have a form in JSON
		}
		t.Blocks = append(t.Blocks, raw)
	}
	if !any {
		return nil
	}
	return t
}

// anthropicBlock is a block of an answer as far as it has come.
type anthropicBlock struct {
	kind      string
	text      strings.Builder // or the thought
	signature string
	data      string
}
