package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/shown"
	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/scanner/redact"
)

// eventLog is the log of a run that is active in this process, and what is told in it.
type eventLog struct {
	*eventlog.Log
	secrets *redact.Secrets
}

// newEventLog makes the log of a run whose next event has the number next.
func (h *Host) newEventLog(run string, next int, secrets *redact.Secrets, lost func()) *eventLog {
	return &eventLog{secrets: secrets, Log: eventlog.New(eventlog.Config{
		Run: run, Next: next, Store: h.store, Bus: h.bus, Log: h.log, Lost: func(err error) bool {
			conflict := errors.Is(err, ErrConflict)
			if conflict {
				lost()
			}
			return conflict
		},
	})}
}

// speech is the redacted stream of one message.
type speech struct {
	log      *eventLog
	redactor *redact.TextStream
	event    eventlog.Event
	spoken   bool
}

func (l *eventLog) speak(agent string, frame int, message string) *speech {
	return &speech{
		log: l, redactor: l.secrets.TextStream(),
		event: eventlog.Event{Type: eventlog.Chunk, Agent: agent, Frame: frame, Message: message},
	}
}

// say appends what can be told of the next piece of text.
func (s *speech) say(text string) {
	s.spoken = true
	s.emit(s.redactor.Append(nil, []byte(text)))
}

// broken appends the rest of a message that will not be complete.
func (s *speech) broken() { s.emit(s.redactor.Close(nil)) }

// end appends the rest and the complete message.
func (s *speech) end(m model.Message, resp model.Response) {
	s.emit(s.redactor.Close(nil))
	m = shown.Message(s.log.secrets, m)
	e := s.event
	e.Type, e.Content, e.Streamed, e.Calls, e.Usage, e.Model = eventlog.Message, m.Content, s.spoken, m.ToolCalls, &resp.Usage, resp.Model
	s.log.Append(e)
}

func (s *speech) emit(text []byte) {
	if len(text) == 0 {
		return
	}
	e := s.event
	e.Content = string(text)
	s.log.Append(e)
}

// pickedUp tells of a message of an earlier run whose calls are made now. Its text was told then.
func (l *eventLog) pickedUp(agent string, m model.Message) {
	m = shown.Message(l.secrets, m)
	l.Append(eventlog.Event{Type: eventlog.Message, Agent: agent, Message: m.ID, Content: m.Content, Streamed: true, Calls: m.ToolCalls})
}

// waits tells of a call that waits for leave.
func (l *eventLog) waits(agent string, frame int, c Call, v waiting) {
	c.Arguments = cmp.Or(v.input, c.Arguments)
	l.Append(eventlog.Event{
		Type: eventlog.Wait, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name), Input: l.input(c),
		Content: l.secrets.Redact(v.leave.Reason), Leave: v.leave.ID, Digest: v.leave.Digest, Expires: v.leave.Expires,
		Where: v.where, People: v.leave.People, Other: v.leave.Other,
	})
}

// todos tells of a plan. Nobody is told the name of a secret in it.
func (l *eventLog) todos(agent string, frame int, call string, items []todo.Item) {
	shown := make([]todo.Item, len(items))
	for i, item := range items {
		shown[i] = todo.Item{Content: l.secrets.Redact(item.Content), Status: item.Status}
	}
	l.Append(eventlog.Event{Type: eventlog.Todos, Agent: agent, Frame: frame, Call: call, Todos: shown})
}

// decided tells of leave that was given or refused. Leave without an id is not told of.
func (l *eventLog) decided(agent string, frame int, c Call, leave Leave) {
	if leave.ID == "" || leave.State == LeavePending {
		return
	}
	l.Append(eventlog.Event{
		Type: eventlog.Decided, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name), Leave: leave.ID,
		Status: leave.word(), Content: l.secrets.Redact(leave.Reason), By: strings.Join(leave.By, ", "),
	})
}

// toolUse tells of a call that the gate has decided on.
func (l *eventLog) toolUse(agent string, frame int, c Call, status CallStatus, code, why string) {
	l.Append(eventlog.Event{
		Type: eventlog.ToolUse, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name),
		Input: l.input(c), Status: string(status), Code: code, Content: why,
	})
}

// input is what readers see of a call's arguments.
func (l *eventLog) input(c Call) json.RawMessage {
	input := json.RawMessage(shown.Arguments(l.secrets, c.Arguments))
	if !isObject(input) {
		return json.RawMessage("{}")
	}
	return input
}

func isObject(doc json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(doc, &fields) == nil && fields != nil
}
