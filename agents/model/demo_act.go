package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// codeForm is "run python: …", and the same with bash and sql, or "run node code: …" with another
// language: the rest of the question is the program.
var codeForm = regexp.MustCompile("(?is)^(?:run|execute) (?:(python3?|bash|sql)(?: code)?|([a-z0-9][a-z0-9-]*) code):\\s*(?:```[a-z0-9]*\n)?(.*?)(?:\n?```)?\\s*$")

// code takes a question that is a program apart.
func (q *question) code() bool {
	m := codeForm.FindStringSubmatch(q.text)
	if m == nil {
		return false
	}
	q.language, q.exact = strings.ToLower(m[1]+m[2]), m[3]
	if q.language == "python" {
		q.language = "python3"
	}
	return true
}

var codeExactly = topic{"core", "run_code", nil, func(q question) string { return object("language", q.language, "code", q.exact) }, tellCode}

// tellCode reads the result of a program.
func tellCode(q question, out string) string {
	var r struct {
		Exit           int
		Signal         string
		OOM, Truncated bool
		Stdout, Stderr string
		Files          []struct{ Path string }
	}
	if json.Unmarshal([]byte(out), &r) != nil {
		return tellOutput(q, out)
	}
	var parts []string
	switch {
	case r.OOM:
		parts = append(parts, "The program was ended because it had used up its memory.")
	case r.Signal != "":
		parts = append(parts, "The program was ended by the signal "+r.Signal+".")
	case r.Exit != 0:
		parts = append(parts, fmt.Sprintf("The program ended with the exit code %d.", r.Exit))
	}
	if r.Stdout != "" || r.Stderr == "" {
		parts = append(parts, tellOutput(q, r.Stdout))
	}
	if text := strings.TrimRight(r.Stderr, "\n"); text != "" {
		parts = append(parts, "It printed as errors:\n```\n"+shorten(text, 4000)+"\n```")
	}
	if len(r.Files) > 0 {
		parts = append(parts, "It left "+count(len(r.Files), "file", "files")+" in its workspace.")
	}
	return strings.Join(parts, "\n")
}

var (
	writeForm   = regexp.MustCompile(`(?is)^(?:please )?write ["'` + "`" + `](.*)["'` + "`" + `] (?:to|into) (?:the )?(?:file )?["'` + "`" + `]?([^\s"'` + "`" + `]+?)["'` + "`" + `]?\.?$`)
	replaceForm = regexp.MustCompile(`(?is)^(?:please )?replace ["'` + "`" + `](.+?)["'` + "`" + `] (?:by|with) ["'` + "`" + `](.*?)["'` + "`" + `] in (?:the )?(?:file )?["'` + "`" + `]?([^\s"'` + "`" + `]+?)["'` + "`" + `]?\.?$`)
)

// writes is the call that the question asks for to change a file, nil if it does not.
func (q question) writes() *topic {
	if m := replaceForm.FindStringSubmatch(q.text); m != nil {
		arguments := object("path", m[3], "old", m[1], "new", m[2])
		return &topic{"core", "edit_file", nil, func(question) string { return arguments }, tellWritten}
	}
	if m := writeForm.FindStringSubmatch(q.text); m != nil {
		arguments := object("path", m[2], "content", m[1]+"\n")
		return &topic{"core", "write_file", nil, func(question) string { return arguments }, tellWritten}
	}
	return nil
}

func tellWritten(_ question, out string) string { return strings.TrimSpace(out) }
