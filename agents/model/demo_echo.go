package model

import "regexp"

// echoForm is "call the tool echo with the text '…'", which tests of a connection ask.
var echoForm = regexp.MustCompile(`(?i)^call the tool echo with the text '([^']*)'`)

// echoes is the call that such a question asks for, nil if it does not.
func (q question) echoes() *topic {
	m := echoForm.FindStringSubmatch(q.text)
	if m == nil {
		return nil
	}
	arguments := object("text", m[1])
	return &topic{"", "echo", nil, func(question) string { return arguments }, func(_ question, out string) string {
		return "The tool echo returned: " + shorten(out, 200)
	}}
}
