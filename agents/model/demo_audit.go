package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// records reads the output of query_audit: a line of column names, lines of values
// and the number of rows, all separated by bars.
func records(out string) (all []map[string]string, ok bool) {
	head, rest, _ := strings.Cut(out, "\n")
	columns := strings.Split(head, " | ")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "(") {
			return all, true
		}
		values := strings.Split(line, " | ")
		if len(values) != len(columns) {
			return nil, false
		}
		r := make(map[string]string, len(columns))
		for i, c := range columns {
			r[c] = strings.TrimSpace(values[i])
		}
		all = append(all, r)
	}
	return nil, false
}

// each makes an answer of one line a record, or none when there are no records.
func each(q question, out, none, some string, line func(r map[string]string) string) string {
	all, ok := records(out)
	switch {
	case !ok:
		return tellOutput(q, out)
	case len(all) == 0:
		return none
	}
	var b strings.Builder
	b.WriteString(some)
	for _, r := range all {
		b.WriteString("\n- " + line(r))
	}
	return b.String()
}

func tellDenials(q question, out string) string {
	return each(q, out, "Nothing that you may see was denied.", "The last denials, newest first:", func(r map[string]string) string {
		what := r["tool"]
		if what == "" {
			what = "the request " + r["path"]
		}
		why := r["error"]
		var reasons []string
		if json.Unmarshal([]byte(r["reasons"]), &reasons) == nil && len(reasons) > 0 {
			why = strings.Join(reasons, "; ")
		}
		return fmt.Sprintf("%s: %s%s%s", r["time"], what, by(r), because(why))
	})
}

func tellCalls(q question, out string) string {
	return each(q, out, "No tool call that you may see was recorded yet.", "The last tool calls, newest first:", func(r map[string]string) string {
		took := ""
		if r["duration_ms"] != "" {
			took = " in " + r["duration_ms"] + " ms"
		}
		return fmt.Sprintf("%s: %s%s %s: %s%s", r["time"], r["tool"], by(r), shorten(r["input"], 200), r["status"], took)
	})
}

func tellCounts(q question, out string) string {
	return each(q, out, "No tool call that you may see was recorded yet.", "Tool calls by tool and outcome:", func(r map[string]string) string {
		return fmt.Sprintf("%s, %s: %s", r["tool"], r["status"], r["calls"])
	})
}

func tellTokens(q question, out string) string {
	return each(q, out, "No model turn that you may see was recorded yet.", "Tokens by model:", func(r map[string]string) string {
		return fmt.Sprintf("%s: %s tokens in %s turns", r["model"], r["tokens"], r["turns"])
	})
}

func tellLogins(q question, out string) string {
	return each(q, out, "No login that you may see was recorded yet.", "The last logins, newest first:", func(r map[string]string) string {
		what := "logged in"
		if r["type"] == "login.failed" {
			what = "failed to log in"
		}
		from := ""
		if r["address"] != "" {
			from = " from " + r["address"]
		}
		return fmt.Sprintf("%s: %s %s%s%s", r["time"], r["user"], what, from, because(r["error"]))
	})
}

func by(r map[string]string) string {
	switch {
	case r["agent"] != "" && r["user"] != "":
		return " by " + r["agent"] + " for " + r["user"]
	case r["user"] != "":
		return " by " + r["user"]
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + shorten(why, 300) + ")"
}
