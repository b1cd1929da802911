package model

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// forgetTool is the tool with which notes of earlier conversations are forgotten.
const forgetTool = "forget_memory"

var (
	rememberForm = regexp.MustCompile(`(?i)^(?:please |and )*(?:remember|keep in mind|note|don'?t forget)(?: that|:)? (.+?)[.!]?$`)
	knownForm    = regexp.MustCompile(`(?i)^(?:please )?(?:what do you (?:remember|know)(?: about| of)?|what (?:is|are) my|do you remember)\b(.*?)\??$`)
	forgetForm   = regexp.MustCompile(`(?i)^(?:please )?forget (?:that |about |what you know about |what i said about )?(.+?)[.!]?$`)
	preferForm   = regexp.MustCompile(`(?i)\b(?:i prefer|from now on|always|never)\b`)
	sentenceEnd  = regexp.MustCompile(`[.!?;]+\s+|\n+`)
	mineForm     = regexp.MustCompile(`(?i)^my [a-z][a-z ]{1,40} (?:is|are) [^?]+$`)
)

// known is a note of an earlier conversation.
type known struct {
	ID   string   `json:"id"`
	Note string   `json:"note"`
	From []string `json:"from"`
}

// demoNotes are the notes in a system prompt.
func demoNotes(system string) (notes []known) {
	for line := range strings.Lines(system) {
		var n known
		if strings.HasPrefix(line, `{"id":"mem_`) && json.Unmarshal([]byte(line), &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes
}

// about are the notes with one of the words of a question, all when it has none.
func about(notes []known, words string) (found []known) {
	wanted := ask(words).words
	wanted = slices.DeleteFunc(wanted, func(w string) bool {
		return slices.Contains([]string{"me", "my", "the", "a", "of", "about", "that", "is", "are", "i", "everything", "all", "what", "you", "know", "any", "thing"}, w)
	})
	for _, n := range notes {
		if q := ask(n.Note); len(wanted) == 0 || q.has(wanted...) {
			found = append(found, n)
		}
	}
	return found
}

// demoMemory answers what is about remembering itself. It reports false for any other question.
func demoMemory(req Request, q question, answers []Message) (Message, bool) {
	notes := demoNotes(req.System)
	if m := forgetForm.FindStringSubmatch(q.text); m != nil {
		return demoForget(req, about(notes, m[1]), answers), true
	}
	if m := knownForm.FindStringSubmatch(q.text); m != nil {
		found := about(notes, m[1])
		switch {
		case len(found) == 0 && len(q.topics()) > 0:
			return Message{}, false // such as "what is my IP address?"
		case len(found) == 0:
			return demoSays("I know nothing about that from earlier conversations." + demoNote), true
		}
		lines := make([]string, len(found))
		for i, n := range found {
			lines[i] = "- " + n.Note
			if len(n.From) > 0 {
				lines[i] += " (from " + strings.Join(n.From, ", ") + ")"
			}
		}
		return demoSays("From earlier conversations I know:\n" + strings.Join(lines, "\n") + demoNote), true
	}
	if rememberForm.MatchString(q.text) || mineForm.MatchString(q.text) || preferForm.MatchString(q.text) && len(q.topics()) == 0 {
		return demoSays("I will remember that." + demoNote), true
	}
	return Message{}, false
}

// demoForget calls for notes to be forgotten, or tells of it.
func demoForget(req Request, found []known, answers []Message) Message {
	if last := len(answers) - 1; last >= 0 && answers[last].Status == "success" {
		return demoSays(strings.TrimSpace(answers[last].Content) + demoNote)
	} else if last >= 0 {
		return demoSays(demoAnswer(question{}, nil, answers))
	}
	if len(found) == 0 {
		return demoSays("I know nothing about that from earlier conversations, so there is nothing to forget." + demoNote)
	}
	if !slices.ContainsFunc(req.Tools, func(t ToolSpec) bool { return t.Name == forgetTool }) {
		return demoSays("I cannot forget: that needs the tool " + forgetTool + ", which the agent " + req.Agent + " does not have. service memory forget does it, too." + demoNote)
	}
	var ids []string
	for _, n := range found {
		ids = append(ids, n.ID)
	}
	arguments, err := json.Marshal(map[string]any{"ids": ids})
	if err != nil { // strings always encode
		return demoSays(demoLost)
	}
	return Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "call_" + req.Agent + "_forget", Name: forgetTool, Arguments: string(arguments)}}}
}

// demoPick is the answer to [MemorySystem]: what the user asked to be remembered, said of themselves or wants
// from now on, and calls that were rejected.
func demoPick(transcript string) Message {
	type memory struct {
		Category string `json:"category"`
		Text     string `json:"text"`
	}
	found := []memory{}
	for line := range strings.Lines(transcript) {
		var e struct{ Role, Tool, Status, Content string }
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		if e.Role == RoleTool && e.Status == "rejected" {
			found = append(found, memory{"decision", "A call of " + e.Tool + " was " + shorten(strings.ReplaceAll(e.Content, "\n", " "), 300)})
		}
		if e.Role != RoleUser {
			continue
		}
		for _, s := range sentenceEnd.Split(strings.TrimSpace(e.Content), -1) {
			category, text := "fact", strings.TrimRight(strings.TrimSpace(s), ".!")
			m := rememberForm.FindStringSubmatch(text)
			if m != nil {
				text = m[1]
			}
			switch {
			case preferForm.MatchString(text):
				category = "preference"
			case m == nil && !mineForm.MatchString(text):
				continue
			}
			found = append(found, memory{category, text})
		}
	}
	doc, err := json.Marshal(map[string]any{"memories": found[:min(len(found), 8)]})
	if err != nil { // strings always encode
		doc = []byte(`{"memories":[]}`)
	}
	return demoSays(string(doc))
}
