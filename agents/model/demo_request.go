package model

import (
	"regexp"
	"strings"
)

var (
	// sendForm is "post 'BODY' to URL", with the type of the body where it is no JSON: "post 'BODY' as TYPE to URL".
	sendForm = regexp.MustCompile("(?is)^(?:please )?(post|put|patch) (?:'(.*)'|`(.*)`|\"(.*)\")(?: as ([a-z0-9.+/-]+))? to [`\"'<]?([a-z]+://[^\\s`\"'<>]+?)[`\"'>]?[.!?]?$")
	// requestForm is "delete URL", "head URL", or "request URL" to get it with its headers and credentials.
	requestForm = regexp.MustCompile("(?is)^(?:please )?(delete|head|request|post) [`\"'<]?([a-z]+://[^\\s`\"'<>]+?)[`\"'>]?[.!?]?$")
)

// requests is the call that the question asks for to make an HTTP request, nil if it does not.
func (q question) requests() *topic {
	if m := sendForm.FindStringSubmatch(q.text); m != nil {
		values := map[string]any{"method": strings.ToUpper(m[1]), "url": m[6], "body": m[2] + m[3] + m[4]}
		if m[5] != "" {
			values["headers"] = map[string]string{"Content-Type": m[5]}
		}
		return fixed("core", "http_request", values, tellRequested)
	}
	m := requestForm.FindStringSubmatch(q.text)
	if m == nil {
		return nil
	}
	method := strings.ToUpper(m[1])
	if method == "REQUEST" {
		method = "GET"
	}
	return fixed("core", "http_request", map[string]any{"method": method, "url": m[2]}, tellRequested)
}

// tellRequested tells what came of a request, and shows the answer.
func tellRequested(q question, out string) string {
	head, body, _ := strings.Cut(out, "\n\n")
	text := "The server was asked: " + strings.Join(strings.Split(strings.TrimSpace(head), "\n"), "; ") + "."
	if strings.TrimSpace(body) == "" {
		return text
	}
	return text + " " + tellOutput(q, body)
}
