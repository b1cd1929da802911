package protocol

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/scanner/sse"
)

// What is read of a stream at most.
const (
	maxEvent  = 256 << 10 // bytes of a line
	maxStream = 16 << 20  // bytes
	maxID     = 128       // bytes of the id of an event
)

// ErrFlood is the error for a stream of which no more is read.
var ErrFlood = errors.New("the server sends more than is read of a stream")

// Event is one of those that a run streams.
type Event struct {
	ID   string // empty where the server gives none
	Name string
	Data []byte // JSON, if the server keeps to the protocol
}

// Join follows a run to the end of its stream: until it is over or waits, or the stream breaks. It begins
// after the event with the id last; empty: at the first. The next Join goes on after the last event that each
// was called with; one that did not come whole is none. The error is nil when the server ended the stream.
func (c *Client) Join(ctx context.Context, thread, run, last string, each func(Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(c.c.Timeout, cancel)
	defer silence.Stop()
	header := http.Header{"Accept": {"text/event-stream"}, "Cache-Control": {"no-store"}, "Last-Event-Id": {last}}
	if last == "" {
		header.Set("Last-Event-ID", "-1")
	}
	resp, err := c.send(ctx, http.MethodGet, path(thread, "runs", run)+"/stream?stream_mode=updates&cancel_on_disconnect=0", nil, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if media.Of(resp.Header).Type != "text/event-stream" {
		return &Error{resp.StatusCode, "the server does not answer as an agent server: a run has no stream of events"}
	}
	r := reader{each: each}
	body := &io.LimitedReader{R: resp.Body, N: maxStream}
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 4<<10), maxEvent)
	for lines.Scan() {
		silence.Reset(c.c.Timeout)
		r.line(lines.Bytes())
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong), body.N <= 0:
		return ErrFlood
	case err != nil:
		return &Error{0, "the stream of the server broke off"}
	}
	return nil
}

// word is what the id of an event may be: it is sent back in a header.
var word = regexp.MustCompile(`^[!-~]+$`)

// reader puts events together from lines.
type reader struct {
	each func(Event)
	now  Event
	some bool // something of it has come
}

func (r *reader) line(line []byte) {
	if len(line) == 0 {
		r.end()
		return
	}
	name, value := sse.Field(line)
	switch string(name) {
	case "event":
		r.now.Name, r.some = string(value), true
	case "data":
		if len(r.now.Data)+len(value) <= maxEvent {
			r.now.Data, r.some = append(r.now.Data, value...), true
		}
	case "id":
		if len(value) <= maxID && word.Match(value) {
			r.now.ID, r.some = string(value), true
		}
	}
}

// end is an empty line: the event is whole. What the end of a stream cuts off was never sent.
func (r *reader) end() {
	if r.some {
		r.each(r.now)
	}
	r.now, r.some = Event{}, false
}
