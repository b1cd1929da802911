package model

import (
	"encoding/json"
	"regexp"
	"strings"
)

// lentForm is "use the tool echo of every with {…}": a tool of an MCP server, with its arguments as JSON,
// if it takes any.
var lentForm = regexp.MustCompile("(?is)^(?:please )?use (?:the )?(?:tool )?`?([a-z0-9_-]+)`? (?:of|from) (?:the )?(?:server )?`?([a-z0-9-]+)`?(?: with (\\{.*\\}))?[.!]?$")

// borrows is the call that the question asks for of a tool of an MCP server, nil if it does not.
func (q question) borrows() *topic {
	m := lentForm.FindStringSubmatch(q.text)
	if m == nil || m[3] != "" && !json.Valid([]byte(m[3])) {
		return nil
	}
	arguments := m[3]
	if arguments == "" {
		arguments = "{}"
	}
	return &topic{"core", "mcp_" + strings.ToLower(m[2]) + "_" + m[1], nil, func(question) string { return arguments }, tellOutput}
}
