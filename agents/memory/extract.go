package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy/provenance"
)

// Bounds of what a model is shown and of what it answers.
const (
	maxTranscript = 24 << 10 // bytes
	maxSpoken     = 4 << 10  // bytes of a message that was said
	maxResult     = 1 << 10  // bytes of what a tool returned
	maxAnswer     = 16 << 10 // bytes
	maxLearned    = 8        // memories of one answer
)

// more stands where a text was cut.
const more = " […]"

// learned is what a model names as worth knowing.
type learned struct {
	Category Category `json:"category"`
	Text     string   `json:"text"`
}

// parse reads the answer to [model.MemorySystem].
func parse(answer string) ([]learned, error) {
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("the answer has %d bytes, of %d at most", len(answer), maxAnswer)
	}
	doc := []byte(strings.TrimSpace(answer))
	if fenced, ok := bytes.CutPrefix(doc, []byte("```")); ok {
		fenced = bytes.TrimSuffix(bytes.TrimPrefix(fenced, []byte("json")), []byte("```"))
		doc = bytes.TrimSpace(fenced)
	}
	if err := strictjson.Check(doc); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON that was asked for: %w", err)
	}
	var a struct {
		Memories []learned `json:"memories"`
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON that was asked for: %w", err)
	}
	for i, l := range a.Memories {
		if !slices.Contains(Categories(), l.Category) {
			return nil, fmt.Errorf("memories[%d].category: %.40q is none; there are %v", i, l.Category, Categories())
		}
	}
	return a.Memories[:min(len(a.Memories), maxLearned)], nil
}

// transcript is what a model picks from: an object a line, so that no text in it can pass for another message.
// The last messages count most: earlier ones are left out. The messages have to be redacted.
func transcript(messages []model.Message) string {
	var lines []string
	size := 0
	for _, m := range slices.Backward(messages) {
		e := struct {
			Role    string `json:"role"`
			Tool    string `json:"tool,omitempty"`
			Status  string `json:"status,omitempty"`
			Content string `json:"content"`
		}{m.Role, m.Name, m.Status, cut(m.Content, maxSpoken, more)}
		switch {
		case m.Content == "":
			continue
		case m.Role == model.RoleTool:
			e.Content = cut(m.Content, maxResult, more)
		}
		line, err := json.Marshal(e)
		if err != nil {
			panic(fmt.Errorf("encoding a message: %w", err)) // strings always encode
		}
		if size += len(line) + 1; size > maxTranscript {
			break
		}
		lines = append(lines, string(line))
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// spoken are the user's own messages: of those that a model wrote as a task for another, none has a label.
func spoken(messages []model.Message) (texts []string) {
	for _, m := range messages {
		if m.Role == model.RoleUser && len(m.Labels) > 0 && !provenance.Untrusted(m.Labels) {
			texts = append(texts, cut(m.Content, 4*maxSpoken, more))
		}
	}
	return texts
}

// said are the sentences of a user, by their words.
type said map[string]string

var (
	sentenceEnd = regexp.MustCompile(`[.!?…]+(\s+)[\p{Lu}\p{Lo}]`)
	shortened   = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:\pL|\pL+\.\pL+|abb|abs|art|bspw|bzgl|bzw|ca|cf|co|corp|dr|ed|eg|esp|etc|evtl|fig|ggf|hr|ie|inc|inkl|jr|ltd|max|min|mr|mrs|ms|no|nr|pp|prof|resp|sog|sr|st|str|usw|viz|vol|vs)\.$`)
	quotation   = regexp.MustCompile("(?m)^\\s*(?:>|~~~)|[\"`“”„«»‹›]|(?:^|[^\\pL\\pN])['‘’‚]\\S")
	leadIn      = regexp.MustCompile(`(?i)^(?:(?:please|bitte|and|und|also)[, ]+)*(?:remember|note|keep in mind|don'?t forget|do not forget|merke? dir|denk daran|vergiss nicht)(?:[,:]|\s+(?:that|dass?))*[,:]?\s+`)
)

// sentences are what the user said, sentence by sentence, without words such as "please remember that". Part
// of a sentence is none: it may say the opposite of the whole. Nor is anything in a message that quotes: it may be
// the words of somebody else.
func sentences(messages []model.Message) said {
	all := said{}
	for _, text := range spoken(messages) {
		if quotation.MatchString(text) {
			continue
		}
		for _, s := range split(text) {
			s = strings.TrimRight(strings.Join(strings.Fields(s), " "), ".!?… ")
			for _, form := range []string{s, leadIn.ReplaceAllString(s, "")} {
				if key := strings.Join(Words(form), " "); key != "" {
					all[key] = form
				}
			}
		}
	}
	return all
}

// split are the sentences of a text. One ends where a mark of its end is followed by a space and a capital letter,
// unless the mark is that of an abbreviation: a line or a semicolon may go on with what was begun.
func split(text string) (list []string) {
	begin := 0
	for _, at := range sentenceEnd.FindAllStringSubmatchIndex(text, -1) {
		if s := text[begin:at[2]]; !shortened.MatchString(s) {
			list, begin = append(list, s), at[3]
		}
	}
	return append(list, text[begin:])
}

// find is the sentence of the user's that has the same words in the same order.
func (s said) find(text string) (string, bool) {
	text = strings.TrimSpace(text)
	sentence, ok := s[strings.Join(Words(leadIn.ReplaceAllString(text, "")), " ")]
	return sentence, ok
}

// cue are words with which people say what is to be remembered.
var cue = regexp.MustCompile(`(?i)\b(?:remember|keep in mind|note that|don'?t forget|do not forget|from now on|in (?:the )?future|always|never|prefer|call me|my [\p{L} -]{2,40} (?:is|are)|` +
	`(?:we|i) (?:have )?(?:decided|agreed)|merke? dir|denk daran|vergiss nicht|ab jetzt|künftig|immer|nie(?:mals)?|bevorzuge|nenn mich|mein\w* [\p{L} -]{2,40} (?:ist|sind)|` +
	`beschlossen|entschieden|recuerda|prefiero|souviens|retiens|préfère|ricorda|preferisco)\b`)

// cued reports whether the user's words ask for something to be remembered, or whether somebody decided on a
// call.
func cued(messages []model.Message) bool {
	if slices.ContainsFunc(messages, func(m model.Message) bool { return m.Role == model.RoleTool && m.Status == "rejected" }) {
		return true
	}
	return slices.ContainsFunc(spoken(messages), cue.MatchString)
}

// forgets reports whether the user had something forgotten: the words that say what are no reason to remember
// it.
func forgets(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool { return m.Role == model.RoleTool && m.Name == ForgetTool })
}
