package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

// stream prints a run's events: the answer to out, everything else to told, and each event as
// it came to raw.
type stream struct {
	out, told io.Writer
	raw       io.Writer
	desk      *desk // asks about calls that wait; nil: nobody is asked
	denied    bool
	failed    error
	lineOpen  bool // the answer's last line has no end yet
}

// copy prints a run's events until the event done. The error has the exit code of how the run ended.
func (s *stream) copy(run *ask.Stream) error {
	err := run.Events(func(e ask.Event) bool {
		fmt.Fprintf(s.raw, "%s\n", e.Raw)
		s.print(e)
		return true
	})
	if s.lineOpen {
		fmt.Fprintln(s.out)
	}
	switch {
	case s.failed != nil:
		return s.failed
	case err != nil:
		return err
	case s.denied:
		return cli.Exit(cli.ExitDenied)
	}
	return nil
}

// print prints one event. Unknown types are skipped.
func (s *stream) print(e ask.Event) {
	switch e.Type {
	case "message_chunk", "text":
		text := cli.Printable(e.Content)
		fmt.Fprint(s.out, text)
		if text != "" {
			s.lineOpen = !strings.HasSuffix(text, "\n")
		}
	case "tool_use":
		s.endLine()
		fmt.Fprintf(s.told, "[%s] %s", cli.OneLine(e.Name), cli.OneLine(plain(e.Input)))
		if e.Status == "denied" || e.Status == "rejected" || e.Status == "expired" {
			s.denied = true
			fmt.Fprintf(s.told, " %s", cli.OneLine(ask.Because(e.Status, e.Reason)))
		}
		fmt.Fprintln(s.told)
	case "todos":
		s.endLine()
		for line := range strings.Lines(todo.Text(e.Items)) {
			fmt.Fprintf(s.told, "[plan] %s\n", cli.OneLine(strings.TrimSuffix(line, "\n")))
		}
	case "compacted":
		s.endLine()
		fmt.Fprintln(s.told, cli.OneLine(e.Content))
	case "guardrail":
		s.endLine()
		fmt.Fprintf(s.told, "[answer %s] %s\n", cli.OneLine(e.Status), cli.OneLine(e.Content))
	case "approval_required":
		s.endLine()
		if s.desk != nil {
			s.desk.waits(e)
		}
	case "approval_decided":
		s.endLine()
		if s.desk != nil {
			s.desk.decided(e.ID)
		}
		fmt.Fprintf(s.told, "[%s] %s\n", cli.OneLine(e.Tool), cli.OneLine(ask.Because(e.Decision, e.Reason)))
	case "error":
		s.failed = fmt.Errorf("%s (%s)", cli.OneLine(e.Message), cli.OneLine(e.Code))
	}
}

// plain is JSON without the escapes that only browsers need.
func plain(doc json.RawMessage) string {
	var v any
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if json.Unmarshal(doc, &v) != nil || e.Encode(v) != nil {
		return string(doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// endLine ends a line of the answer that something else follows.
func (s *stream) endLine() {
	if s.lineOpen {
		fmt.Fprintln(s.out)
		s.lineOpen = false
	}
}
