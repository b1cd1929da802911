package ask

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/api/spec"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/scanner/sse"
)

// maxEvent bounds one line of a stream, in bytes.
const maxEvent = 16 << 20

// How a broken connection is made again.
const (
	rejoinEvery = 500 * time.Millisecond
	rejoinFor   = 2 * time.Minute
)

// ErrBroken is the end of a stream before the event done.
var ErrBroken = errors.New("the stream ended before the answer did")

// Event is one event of a run, and its JSON as it came, which is good until the next event.
type Event struct {
	spec.StreamEvent
	Raw []byte
}

// Because is a word for what became of a call, and the reason, which may begin with the word itself.
func Because(word, reason string) string {
	if strings.HasPrefix(reason, word+" ") {
		return reason
	}
	return word + ": " + reason
}

// Stream is the events of one run.
type Stream struct {
	Run string // the path of the run, to cancel it; empty: the service did not say it

	client Client
	body   io.ReadCloser
	last   string // id of the last event
}

func newStream(c Client, resp *http.Response) *Stream {
	return &Stream{Run: resp.Header.Get("Content-Location"), client: c, body: resp.Body}
}

// Events calls yield with the events that come until yield wants no more, and returns nil after the
// event done. A connection that ends before is [ErrBroken]. The connection is closed then.
func (s *Stream) Events(yield func(Event) bool) error {
	defer s.Close()
	lines := bufio.NewScanner(s.body)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	for lines.Scan() {
		name, data := sse.Field(lines.Bytes())
		if string(name) == "id" {
			s.last = string(data)
		}
		if string(name) != "data" {
			continue // an id, or the empty line of a keepalive
		}
		e := Event{Raw: data}
		if err := json.Unmarshal(data, &e.StreamEvent); err != nil {
			return fmt.Errorf("reading the stream: %w", err)
		}
		if !yield(e) || e.Type == "done" {
			return nil
		}
	}
	if lines.Err() != nil {
		return fmt.Errorf("reading the stream: %w: %w", ErrBroken, lines.Err())
	}
	return ErrBroken
}

// Close ends the connection. The run goes on.
func (s *Stream) Close() { _ = s.body.Close() }

// Rejoin waits for the service to come back and joins the run again, after its last event. The run does
// not need its readers: it is in the store.
func (s *Stream) Rejoin(ctx context.Context) error {
	thread, _, ok := strings.Cut(s.Run, "/runs/")
	if !ok {
		return ErrBroken
	}
	last := s.last
	if last == "" {
		last = "-1"
	}
	enough := time.NewTimer(rejoinFor)
	defer enough.Stop()
	for {
		resp, err := s.client.Send(ctx, http.MethodGet, thread+"/runs/stream", nil, "Last-Event-ID", last) //nolint:bodyclose // Events closes it
		if err == nil {
			s.body = resp.Body
			return nil
		}
		if p, ok := errors.AsType[problem.Problem](err); ok && p.Status < http.StatusInternalServerError {
			return err
		}
		select {
		case <-time.After(rejoinEvery):
		case <-enough.C:
			return ErrBroken
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
