package langgraph

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// EventsBody is the body of POST /threads/{thread_id}/stream/events.
type EventsBody struct {
	ThreadPath
	Filter
	Since *int64 `json:"since,omitempty" nullable:"false" description:"the number (seq) of an event; those after it are told. Default: those of the latest run, if it is under way, waits, or ended less than a minute ago"`
}

// ThreadEvent is the data of one server-sent event of a thread.
type ThreadEvent struct {
	Type   string            `json:"type" enum:"event"`
	ID     string            `json:"event_id"`
	Seq    int64             `json:"seq" description:"increases in a thread; the same whenever the event is told"`
	Method string            `json:"method"`
	Params ThreadEventParams `json:"params"`
}

// ThreadEventParams says what happened, and where.
type ThreadEventParams struct {
	Namespace []string       `json:"namespace" description:"of the graph, empty, or of a sub-agent or a node"`
	Timestamp int64          `json:"timestamp" description:"when the run was asked for, in milliseconds since 1970"`
	Node      string         `json:"node,omitempty"`
	Data      map[string]any `json:"data"`
}

// centricRoutes are the endpoints of the thread-centric protocol.
func (d *dialect) centricRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/commands", Action: policy.Use,
			Summary: "Send a command of the thread-centric protocol",
			Request: new(CommandBody), Success: rest.JSON(new(CommandReply)), Faults: []int{400, 404, 413, 415, 422, 429, 503}, Serve: d.command,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/stream/events", Action: policy.Use,
			Summary: "Stream what happens in a thread, run after run",
			Request: new(EventsBody), Success: rest.Events(new(ThreadEvent)), Faults: []int{400, 404, 413, 415, 422, 429, 503}, Serve: d.threadEvents,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/stream/events", Action: policy.Use,
			Summary: "Open a WebSocket for commands and events of a thread",
			Request: new(ThreadPath), Success: rest.Nothing(http.StatusSwitchingProtocols), Faults: []int{422, 426, 429}, Serve: d.socket,
		},
	}
}

func (d *dialect) threadEvents(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body EventsBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[EventsBody]()) {
		return
	}
	err := body.check()
	if err == nil && body.Since != nil && *body.Since < 0 {
		err = rest.Invalid("since: must not be negative")
	}
	if err == nil {
		_, err = rest.Aside(func() (any, error) { return d.View(r).Thread(r.Context(), thread) })
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.StreamHead(w.Header())
	a := startAnswer(w, heartbeat)
	defer a.end()
	_ = a.write(nil) // the client learns that the stream is there before anything happens
	f := &feed{d: d, view: d.View(r), thread: thread, subs: []subscription{{Filter: body.Filter}}, put: func(events []event) error {
		var buf bytes.Buffer // kept by no stream that waits
		for _, e := range events {
			writeEvent(&buf, e.method, e.doc, e.id)
		}
		return a.write(buf.Bytes())
	}}
	if doc := ended(f.follow(r.Context(), body.Since)); doc != nil {
		var buf bytes.Buffer
		writeEvent(&buf, "error", doc, "")
		_ = a.write(buf.Bytes()) // a client that has gone is told nothing
	}
}

// ended is what a client is told of the end of its feed; nil: nothing.
func ended(err error) []byte {
	switch code, message, there := rest.StreamEnd(err); {
	case err == nil, errors.Is(err, errGone), errors.Is(err, policy.ErrStopping), !there:
		return nil
	default:
		return encode(CommandReply{Type: replyError, Error: code, Message: message})
	}
}

// writeEvent appends an event to a buffer.
func writeEvent(buf *bytes.Buffer, name string, doc []byte, id string) {
	buf.WriteString("event: ")
	buf.WriteString(name)
	buf.WriteString("\ndata: ")
	buf.Write(doc)
	if id != "" {
		buf.WriteString("\nid: ")
		buf.WriteString(id)
	}
	buf.WriteString("\n\n")
}
