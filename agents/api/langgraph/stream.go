package langgraph

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
)

// beat is how often a client hears of a stream. Clients learn it and take a longer silence for a break.
const beat = 5 * time.Second

// writer writes an answer that comes in pieces, with a sign of life in between.
type writer struct {
	w    http.ResponseWriter
	out  *http.ResponseController
	sign string // of life

	mu    sync.Mutex
	timer *time.Timer
	over  bool
	err   error
}

// startAnswer begins an answer. The header must be complete.
func startAnswer(w http.ResponseWriter, sign string) *writer {
	a := &writer{w: w, out: http.NewResponseController(w), sign: sign}
	w.WriteHeader(http.StatusOK)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(beat, a.beat)
	return a
}

func (a *writer) beat() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.put([]byte(a.sign))
	a.timer.Reset(beat)
}

// put writes and flushes. The caller holds mu.
func (a *writer) put(piece []byte) {
	if a.err != nil {
		return
	}
	if _, a.err = a.w.Write(piece); a.err == nil {
		a.err = a.out.Flush()
	}
}

// write writes a piece; the error is that of the connection.
func (a *writer) write(piece []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(piece)
	return a.err
}

// end ends the signs of life. Nothing is written any more.
func (a *writer) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.timer.Stop()
}

// heartbeat is a comment of a stream of events. One newline only: with two, clients up to 1.12 take it for
// an event.
const heartbeat = ": hb\n"

// writeTold appends events to a buffer, but those up to a number. Their ids begin with the prefix.
func writeTold(buf *bytes.Buffer, prefix string, events []told, after int) {
	for _, e := range events {
		if e.id <= after {
			continue
		}
		writeEvent(buf, e.name, e.data, prefix+strconv.Itoa(e.id))
	}
}

// reading is one reader of a run.
type reading struct {
	run   agents.Handle
	t     *translator
	from  int // of the log; what was before it has been translated
	after int // number of the last event that the reader has
}

// turns yields what is told of the run until it is over or waits, all there is at a time. The error is why
// the log cannot be read on.
func (d *dialect) turns(ctx context.Context, rd *reading, yield func([]told) bool) error {
	if rd.t.next == 0 {
		rd.t.head()
	}
	open := func() error {
		o, err := rest.Aside(func() (agents.Opening, error) { return rd.run.Opening(ctx) })
		if err == nil {
			rd.t.open(o)
		}
		return err
	}
	if rd.run.Status != agents.Pending && len(rd.t.frames) == 0 {
		if err := open(); err != nil {
			return err
		}
	}
	if !yield(rd.t.take()) {
		return nil
	}
	for events, err := range rd.run.FollowTurn(ctx, rd.from) {
		if err != nil {
			return err
		}
		if len(rd.t.frames) == 0 {
			if err := open(); err != nil {
				return err
			}
		}
		for _, e := range events {
			rd.t.add(e)
			rd.from = e.Seq + 1
			if rd.t.size >= piece && !yield(rd.t.take()) {
				return nil
			}
		}
		if !yield(rd.t.take()) {
			return nil
		}
	}
	return nil
}

// stream writes what is told of a run until it is over or waits, or until the client has gone. It
// reports whether the client was there to the end.
func (d *dialect) stream(w http.ResponseWriter, r *http.Request, rd reading) (whole bool) {
	rest.StreamHead(w.Header())
	locate(w, rd.run)
	a := startAnswer(w, heartbeat)
	defer a.end()
	ctx, stop := rest.UntilGone(r.Context())
	defer stop()
	whole = true
	err := d.turns(ctx, &rd, func(events []told) bool {
		var buf bytes.Buffer // kept by no stream that waits
		if writeTold(&buf, "", events, rd.after); buf.Len() > 0 {
			whole = a.write(buf.Bytes()) == nil
		}
		return whole
	})
	if err == nil {
		return whole
	}
	return a.fail(err)
}

// fail tells the client why its stream ends before its time. The event has no id, so that whoever joins again
// goes on after the last one of the run. It reports false for a client that has gone, which is told nothing.
func (a *writer) fail(err error) bool {
	code, message, there := rest.StreamEnd(err)
	if there {
		var buf bytes.Buffer
		writeEvent(&buf, "error", encode(map[string]string{"error": code, "message": message}), "")
		_ = a.write(buf.Bytes()) // it may have gone meanwhile
	}
	return there
}

// locate tells where a run is, and where its stream can be joined again.
func locate(w http.ResponseWriter, run agents.Handle) {
	path := rest.RunPath(run.RunInfo)
	w.Header().Set("Content-Location", path)
	w.Header().Set("Location", path+"/stream")
}
