package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/svc-gateway/svc/cmd/service/ask"
)

// fields are the arguments of a call.
func fields(input json.RawMessage) map[string]any {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

// compact is JSON without the escapes that only browsers need.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "{}"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// describe is a call on one line, for a look at what is going on.
func (p *program) describe(name string, input json.RawMessage) string {
	args := fields(input)
	if len(args) == 0 {
		return name
	}
	if agent, ok := args["agent"].(string); ok {
		if task, ok := args["task"].(string); ok {
			return name + " " + agent + ": " + task
		}
	}
	for _, only := range []string{"command", "path", "url", "query", "sql"} {
		if text, ok := args[only].(string); ok {
			return name + " " + text
		}
	}
	return name + " " + compact(args)
}

// exactly is a call as a person has to see it to decide: all of it, with escapes for what has no look. A
// change of a file is shown as a diff.
func (p *program) exactly(tool string, input json.RawMessage) []string {
	args := fields(input)
	out := p.revealed("  ", tool, p.bold)
	path, _ := args["path"].(string)
	old, hasOld := args["old"].(string)
	text, hasNew := args["new"].(string)
	if path != "" && hasOld && hasNew && len(args) == 3 {
		return append(out, p.diff(path, old, text)...)
	}
	if args == nil {
		return append(out, p.revealed("  ", string(input), nil)...)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value, isText := args[name].(string)
		if !isText {
			value = compact(args[name])
		}
		label := ask.Reveal(name) + ": "
		if !strings.Contains(value, "\n") {
			out = append(out, p.revealed("  ", label+value, nil)...)
			continue
		}
		out = append(out, p.revealed("  ", label, nil)...)
		for line := range strings.SplitSeq(value, "\n") {
			out = append(out, p.revealed("    "+p.sign("│ ", "| "), line, nil)...)
		}
	}
	return out
}

// diff shows how a text is changed.
func (p *program) diff(path, old, text string) []string {
	out := p.revealed("  ", "path: "+path, nil)
	text1 := diff.Diff("old", []byte(withEnd(old)), "new", []byte(withEnd(text)))
	for i, line := range strings.Split(strings.TrimSuffix(string(text1), "\n"), "\n") {
		if i < 3 || line == "" { // its head names files that there are not
			continue
		}
		paint := func(s string) string { return s }
		switch line[0] {
		case '+':
			paint = func(s string) string { return p.paint(ansi.Green, s) }
		case '-':
			paint = func(s string) string { return p.paint(ansi.Red, s) }
		}
		out = append(out, p.revealed("  ", line, paint)...)
	}
	if strings.HasSuffix(old, "\n") != strings.HasSuffix(text, "\n") {
		out = append(out, fmt.Sprintf("  (the old text ends with a line end: %t, the new one: %t)", strings.HasSuffix(old, "\n"), strings.HasSuffix(text, "\n")))
	}
	return out
}

func withEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// revealed is one line of the service, over several where it does not fit, with escapes for what has no
// look; not even in ASCII is anything left out of it.
func (p *program) revealed(indent, line string, paint func(string) string) []string {
	line = ask.Reveal(line)
	if p.ASCII {
		line = escaped(line)
	}
	var out []string
	for _, part := range strings.Split(ansi.Hardwrap(line, max(p.Width-ansi.StringWidth(indent), 8), true), "\n") {
		if paint != nil {
			part = paint(part)
		}
		out = append(out, indent+part)
	}
	return out
}

// escaped has an escape for every character that is none of ASCII.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r > 0x7e {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
