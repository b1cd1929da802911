package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// demoAnswer makes the answer from the messages after the question; "" when there
// are no results among them.
func demoAnswer(q question, found []*topic, messages []Message) string {
	var calls []ToolCall
	results := map[string]Message{}
	for _, m := range messages {
		calls = append(calls, m.ToolCalls...)
		if m.Role == RoleTool {
			results[m.ToolCallID] = m
		}
	}
	var parts []string
	for _, c := range calls {
		r, ok := results[c.ID]
		if !ok {
			continue
		}
		if c.Name == "delegate" { // the note stands below the whole answer, once
			r.Content = strings.ReplaceAll(r.Content, demoNote, "")
		}
		switch {
		case r.Status != "" && r.Status != "success":
			parts = append(parts, failed(c, r))
		case c.Name == "delegate":
			parts = append(parts, r.Content)
		default:
			parts = append(parts, told(q, found, c, r.Content))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n\n") + demoNote
}

// told puts the output of a call into sentences: those of the topic that makes just
// this call.
func told(q question, found []*topic, c ToolCall, out string) string {
	for _, t := range found {
		if t.tool == c.Name && t.call(q) == c.Arguments {
			return t.tell(q, out)
		}
	}
	return tellOutput(q, out)
}

// failed says what was not done and why.
func failed(c ToolCall, r Message) string {
	reason := strings.TrimSpace(r.Content)
	for _, prefix := range []string{r.Status + ": ", c.Name + ": "} {
		reason = strings.TrimPrefix(reason, prefix)
	}
	if reason == "" {
		reason = "no reason was given"
	}
	if strings.HasPrefix(reason, "rejected by ") {
		return fmt.Sprintf("%s was %s", described(c), shorten(reason, 1000))
	}
	did := map[string]string{"denied": "was denied", "rejected": "was rejected", "expired": "was not made", "timeout": "took too long and was stopped", "cancelled": "was cancelled"}[r.Status]
	if did == "" {
		did = "failed"
	}
	return fmt.Sprintf("%s %s: %s", described(c), did, shorten(reason, 1000))
}

// described names a call for people.
func described(c ToolCall) string {
	var a struct{ Command, Path, SQL, Agent, Code, URL string }
	if json.Unmarshal([]byte(c.Arguments), &a) != nil {
		return "The call of " + c.Name
	}
	switch {
	case c.Name == "device_config":
		return "Changing the device"
	case c.Name == "import_inventory":
		return "Importing `" + a.Path + "`"
	case a.Command != "":
		return "The command `" + a.Command + "`"
	case c.Name == "http_request":
		return "The request to `" + a.URL + "`"
	case a.URL != "":
		return "Getting `" + a.URL + "`"
	case a.Code != "":
		return "The program"
	case a.Path != "" && !strings.Contains(c.Name, "read"):
		return "Writing `" + a.Path + "`"
	case a.Path != "":
		return "Reading `" + a.Path + "`"
	case a.SQL != "":
		if c.Name == "query_database" {
			return "The query of the database"
		}
		return "The query of the audit log"
	case a.Agent != "":
		return "The task for the agent " + a.Agent
	}
	return "The call of " + c.Name
}

// tellOutput shows the output as it is.
func tellOutput(_ question, out string) string {
	out = strings.TrimRight(out, "\n")
	if out == "" {
		return "There was no output."
	}
	return "The output is:\n```\n" + shorten(out, 4000) + "\n```"
}

// rows splits the output of a command into lines of fields, without the notes in
// brackets that run_command adds.
func rows(out string) [][]string {
	var all [][]string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 0 && f[0][0] != '[' {
			all = append(all, f)
		}
	}
	return all
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
