package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/scanner/command"
	"github.com/svc-gateway/svc/scanner/sse"
)

// maxEvent bounds one line of a stream.
const maxEvent = 16 << 20

// stream prints a run's events: the answer to out, everything else to told, and each event as
// it came to raw.
type stream struct {
	out, told io.Writer
	raw       io.Writer
	desk      *desk  // asks about calls that wait; nil: nobody is asked
	last      string // id of the last event
	denied    bool
	failed    error
	lineOpen  bool // the answer's last line has no end yet
}

// event is a stream event as the API sends it.
type event struct {
	Type    string          `json:"type"`
	Content string          `json:"content"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Status  string          `json:"status"`
	Reason  string          `json:"reason"`
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Items   []todo.Item     `json:"items"`

	ID          string    `json:"id"`
	Tool        string    `json:"tool"`
	Digest      string    `json:"digest"`
	Where       string    `json:"where"`
	Approvers   int       `json:"approvers"`
	OtherPerson bool      `json:"other_person"`
	ExpiresAt   time.Time `json:"expires_at"`
	Decision    string    `json:"decision"`
}

// errBroken is the end of a stream before the event done.
var errBroken = errors.New("the stream ended before the answer did")

// copy reads server-sent events until the event done. The error has the exit code of how the
// run ended.
func (s *stream) copy(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	done := false
	for !done && lines.Scan() {
		name, data := sse.Field(lines.Bytes())
		if string(name) == "id" {
			s.last = string(data)
		}
		if string(name) != "data" {
			continue // an id, or the empty line of a keepalive
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("reading the stream: %w", err)
		}
		fmt.Fprintf(s.raw, "%s\n", data)
		done = s.print(e)
	}
	if s.lineOpen {
		fmt.Fprintln(s.out)
	}
	switch {
	case s.failed != nil:
		return s.failed
	case !done && lines.Err() != nil:
		return fmt.Errorf("reading the stream: %w: %w", errBroken, lines.Err())
	case !done:
		return errBroken
	case s.denied:
		return cli.Exit(cli.ExitDenied)
	}
	return nil
}

// print prints one event and reports whether it is the last. Unknown types are skipped.
func (s *stream) print(e event) (done bool) {
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
			fmt.Fprintf(s.told, " %s: %s", e.Status, cli.OneLine(e.Reason))
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
		fmt.Fprintf(s.told, "[%s] %s: %s\n", cli.OneLine(e.Tool), cli.OneLine(e.Decision), cli.OneLine(e.Reason))
	case "error":
		s.failed = fmt.Errorf("%s (%s)", cli.OneLine(e.Message), cli.OneLine(e.Code))
	case "done":
		return true
	}
	return false
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

// visible is text that people judge by what they see: what has no look, or changes that of its
// neighbours, is shown as an escape.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if command.Visible(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// call posts JSON and reads a JSON answer.
func (c *chat) call(ctx context.Context, path string, in, out any) error {
	resp, err := c.target.Send(ctx, http.MethodPost, path, in)
	if err != nil {
		return cancelled(ctx, err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(out); err != nil {
		return fmt.Errorf("reading the service's answer: %w", err)
	}
	return nil
}
