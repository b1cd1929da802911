package memory

import "github.com/svc-gateway/svc/agents/model"

// What tests look at from outside.
var (
	Section    = section
	Parse      = parse
	Transcript = transcript
)

// IsCued reports whether words ask for something to be remembered.
func IsCued(text string) bool { return cued([]model.Message{said1(text)}) }

// Sentence is the sentence of what a user said that a text repeats.
func Sentence(said, text string) (string, bool) {
	return sentences([]model.Message{said1(said)}).find(text)
}

func said1(text string) model.Message {
	return model.Message{Role: model.RoleUser, Content: text, Labels: []string{"user"}}
}
