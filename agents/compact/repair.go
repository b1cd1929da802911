package compact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/todo"
)

// repaired is a list in which each call has one result, after it, and each result has its call. People may
// write anything into a thread; servers refuse a list that is not of this form.
func repaired(all []model.Message) []model.Message {
	var list []model.Message
	for i := 0; i < len(all); i++ {
		m := all[i]
		if m.Role == model.RoleTool {
			continue // without its call
		}
		if len(m.ToolCalls) == 0 {
			list = append(list, m)
			continue
		}
		end := i + 1
		for end < len(all) && all[end].Role == model.RoleTool {
			end++
		}
		results := all[i+1 : end]
		var calls []model.ToolCall
		var answers []model.Message
		for _, c := range m.ToolCalls {
			if slices.ContainsFunc(calls, func(other model.ToolCall) bool { return other.ID == c.ID }) {
				continue
			}
			calls = append(calls, c)
			j := slices.IndexFunc(results, func(r model.Message) bool { return r.ToolCallID == c.ID })
			if j >= 0 {
				answers = append(answers, results[j])
				continue
			}
			answers = append(answers, model.Message{
				Role: model.RoleTool, ToolCallID: c.ID, Name: c.Name, Status: "unknown", Labels: m.Labels, Content: "unknown: nothing is known of the call's result",
			})
		}
		m.ToolCalls = calls
		list = append(append(list, m), answers...)
	}
	return list
}

const leastResult = 256 // bytes that a result keeps in any case

// clip shortens results of tools, as far as needed, for a conversation that does not fit otherwise. The
// user's first message is shortened, too, unless it is the last one.
func (c Compactor) clip(req model.Request) []model.Message {
	list := slices.Clone(req.Messages)
	spoken := func(m model.Message) bool { return m.Role == model.RoleUser && m.ID != "" }
	first := slices.IndexFunc(list, spoken)
	if first >= 0 && slices.ContainsFunc(list[first+1:], spoken) {
		list[first].Content = shorten(list[first].Content, c.Window)
	}
	for most := 16 * c.Window; most >= leastResult; most /= 2 {
		for i, m := range list {
			if m.Role == model.RoleTool {
				list[i].Content = shorten(req.Messages[i].Content, most)
			}
		}
		req := req
		req.Messages = list
		if Size(req) <= c.limit() {
			break
		}
	}
	return list
}

// shorten cuts a text to about so many bytes.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := max(0, most)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[cut: %d bytes more]", text[:cut], len(text)-cut)
}

// entry is a message in a transcript.
type entry struct {
	Role    string   `json:"role"`
	Name    string   `json:"tool,omitempty"`
	Status  string   `json:"status,omitempty"`
	Content string   `json:"content,omitempty"`
	Calls   []string `json:"calls,omitempty"`
}

// What a transcript has of one message, in bytes.
const (
	maxContent   = 4 << 10
	maxArguments = 512
)

// transcript is what is to be summarised, an object a line, so that no text in it can pass for another
// message. It has most bytes: the middle is left out first.
func transcript(before *model.Compaction, all []model.Message, most int) string {
	var lines []string
	size := 0
	add := func(e entry) {
		line, err := json.Marshal(e)
		if err != nil {
			panic(fmt.Errorf("encoding a message: %w", err)) // strings always encode
		}
		lines, size = append(lines, string(line)), size+len(line)+1
	}
	if before != nil && before.Text != "" {
		add(entry{Role: "summary", Content: before.Text})
	}
	for _, m := range all {
		e := entry{Role: m.Role, Name: m.Name, Status: m.Status, Content: shorten(m.Content, maxContent)}
		for _, c := range m.ToolCalls {
			e.Calls = append(e.Calls, c.Name+" "+shorten(c.Arguments, maxArguments))
		}
		add(e)
	}
	left := 0
	for size > most && len(lines) > 2 {
		at := len(lines) / 2
		size -= len(lines[at]) + 1
		lines = slices.Delete(lines, at, at+1)
		left++
	}
	if left > 0 {
		lines = slices.Insert(lines, (len(lines)+1)/2, fmt.Sprintf(`{"left_out":%d}`, left))
	}
	return strings.Join(lines, "\n")
}

// planIn is the last plan that was written.
func planIn(all []model.Message) string {
	for _, m := range slices.Backward(all) {
		if m.Todos != nil {
			return todo.Text(*m.Todos)
		}
	}
	return ""
}

// digest tells whether messages are still those that were summarised. It is asked for at each turn.
func digest(all []model.Message) string {
	h := sha256.New()
	add := func(texts ...string) {
		for _, text := range texts {
			_, _ = fmt.Fprintf(h, "%d:", len(text)) // a hash takes everything
			_, _ = io.WriteString(h, text)
		}
	}
	for _, m := range all {
		add(m.ID, m.Role, m.Content, m.ToolCallID, strconv.Itoa(len(m.ToolCalls)))
		for _, c := range m.ToolCalls {
			add(c.ID, c.Name, c.Arguments)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
