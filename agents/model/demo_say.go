package model

import "strings"

// says are the words that the question asks for as the answer, whatever they are: an answer of a model
// that nothing stands behind can be seen with them.
func (q question) says() (words string, ok bool) {
	const say = "say:"
	if !strings.HasPrefix(q.lower, say) {
		return "", false
	}
	return strings.TrimSpace(q.text[len(say):]), true
}
