package model

import (
	"regexp"
	"strings"
)

// fetchForm is "fetch URL": the URL stands in quotes, in pointed brackets, or by itself.
var fetchForm = regexp.MustCompile("(?is)^(?:please )?(?:fetch|get|download)(?: the)?(?: page| document| file| url)? (?:[`\"'<]([a-z]+://[^`\"'<>]+)[`\"'>]|([a-z]+://[^\\s`\"'<>]+?))(?: for me)?(?: please)?[.!?]?$")

// fetches is the call that the question asks for to get a document, nil if it does not.
func (q question) fetches() *topic {
	m := fetchForm.FindStringSubmatch(q.text)
	if m == nil {
		return nil
	}
	arguments := object("url", m[1]+m[2])
	return &topic{"core", "http_get", nil, func(question) string { return arguments }, tellFetched}
}

// tellFetched tells where a document came from, and shows it.
func tellFetched(q question, out string) string {
	head, body, _ := strings.Cut(out, "\n\n")
	if lines := strings.Split(head, "\n"); len(lines) > 1 {
		head = lines[len(lines)-1] + " from " + strings.Join(lines[:len(lines)-1], ", ")
	}
	return "The answer was " + head + ". " + tellOutput(q, body)
}
