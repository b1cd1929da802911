package spec

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/todo"
)

// event is an entry of the log in the specification's dialect; false for one that it does not
// show: what sub-agents say among themselves, and the texts of results.
func event(e eventlog.Event) (StreamEvent, bool) {
	switch e.Type {
	case eventlog.Chunk:
		return StreamEvent{Type: "message_chunk", Content: e.Content}, e.Frame == 0
	case eventlog.Message:
		used := e.Usage
		if used != nil && used.TotalTokens == 0 {
			used = nil
		}
		if e.Frame == 0 && !e.Streamed && e.Content != "" {
			return StreamEvent{Type: "text", Content: e.Content, Usage: used}, true
		}
		return StreamEvent{Type: "usage", Usage: used}, used != nil
	case eventlog.ToolUse:
		s := StreamEvent{Type: "tool_use", ID: e.Call, Name: e.Name, Input: e.Input}
		switch agents.CallStatus(e.Status) {
		case agents.CallDenied, agents.CallRejected, agents.CallExpired:
			s.Status, s.Code, s.Reason = e.Status, e.Code, e.Content
		}
		return s, true
	case eventlog.Result:
		return result(e)
	case eventlog.Wait:
		people := e.People
		if people < 2 {
			people = 0
		}
		return StreamEvent{
			Type: "approval_required", ID: e.Leave, Tool: e.Name, Input: e.Input, Digest: e.Digest, Reason: e.Content,
			Where: e.Where, Approvers: people, OtherPerson: e.Other, ExpiresAt: moment(e.Expires),
		}, e.Leave != ""
	case eventlog.Decided:
		return StreamEvent{Type: "approval_decided", ID: e.Leave, Tool: e.Name, Decision: e.Status, By: e.By, Reason: e.Content}, true
	case eventlog.Compact:
		return StreamEvent{Type: "compacted", Status: e.Status, Content: e.Content}, e.Frame == 0
	case eventlog.Guarded:
		return StreamEvent{Type: "guardrail", Status: e.Status, Code: e.Code, Content: e.Content}, e.Frame == 0
	case eventlog.Todos:
		return StreamEvent{Type: "todos", ID: e.Call, Items: append([]todo.Item{}, e.Todos...)}, e.Frame == 0
	case eventlog.Error:
		return StreamEvent{Type: "error", Code: e.Code, Message: e.Content}, true
	case eventlog.Done:
		return StreamEvent{Type: "done"}, true
	}
	return StreamEvent{}, false
}

// result is how a call ended, without what it gave; false for one that was not made.
func result(e eventlog.Event) (StreamEvent, bool) {
	switch agents.CallStatus(e.Status) {
	case agents.CallDenied, agents.CallRejected, agents.CallExpired:
		return StreamEvent{}, false
	}
	ms := e.Took.Milliseconds()
	return StreamEvent{Type: "tool_result", ID: e.Call, Name: e.Name, Status: e.Status, DurationMS: &ms}, true
}

// stream writes a run's events from a number on until the run is over or the client has gone.
// ids asks for an id line with every event.
func stream(w http.ResponseWriter, r *http.Request, run agents.Handle, from int, ids bool) {
	rest.StreamHead(w.Header())
	w.Header().Set("Content-Location", rest.RunPath(run.RunInfo))
	w.WriteHeader(http.StatusOK)
	ctx, stop := rest.UntilGone(r.Context())
	defer stop()
	out := http.NewResponseController(w)
	for events, err := range run.Follow(ctx, from) {
		var buf bytes.Buffer // kept by no stream that waits
		for _, e := range events {
			if s, ok := event(e); ok {
				writeEvent(&buf, e.Seq, s, ids)
			}
		}
		if err != nil {
			writeEnd(&buf, err)
		}
		if buf.Len() == 0 {
			continue
		}
		if _, err := w.Write(buf.Bytes()); err != nil {
			return // the client has gone; the run goes on
		}
		if err := out.Flush(); err != nil {
			return
		}
	}
}

func writeEvent(buf *bytes.Buffer, seq int, e StreamEvent, ids bool) {
	data, err := json.Marshal(e)
	if err != nil {
		data = []byte(`{"type":"error","code":"internal","message":"an event could not be encoded"}`)
	}
	if ids {
		buf.WriteString("id: " + strconv.Itoa(seq) + "\n")
	}
	buf.WriteString("data: ")
	buf.Write(data)
	buf.WriteString("\n\n")
}

// writeEnd tells a client why its stream ends before the run does. One that has gone is told
// nothing.
func writeEnd(buf *bytes.Buffer, err error) {
	code, message, ok := rest.StreamEnd(err)
	if !ok {
		return
	}
	writeEvent(buf, 0, StreamEvent{Type: "error", Code: code, Message: message}, false)
	writeEvent(buf, 0, StreamEvent{Type: "done"}, false)
}
