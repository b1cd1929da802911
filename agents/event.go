package agents

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/scanner/redact"
)

// EventType names what an [Event] tells.
type EventType string

// The events of a run's log. Done is always the last one.
const (
	EventChunk   EventType = "message_chunk" // a piece of a message as it is generated
	EventMessage EventType = "message"       // a message is complete
	EventToolUse EventType = "tool_use"      // the gate has decided on a call
	EventWait    EventType = "tool_wait"     // a call waits for leave
	EventDecided EventType = "tool_decided"  // leave was given or refused, see Status
	EventResult  EventType = "tool_result"   // a call has its result
	EventOpened  EventType = "opened"        // a call opened a frame for a sub-agent, which got a task
	EventCompact EventType = "compacted"     // older messages were summarised for the model, or left out; see Status
	EventTodos   EventType = "todos"         // an agent has written its plan
	EventPaused  EventType = "paused"        // nothing goes on until a call that waits has leave
	EventError   EventType = "error"         // the run failed
	EventDone    EventType = "done"          // the run is over; its status is final
)

// Event is one entry of a run's event log. It holds no credential: the runtime redacts before
// it appends. Which fields are set depends on the type.
type Event struct {
	Seq      int              `json:"seq"` // from 0, without gaps
	Type     EventType        `json:"type"`
	Agent    string           `json:"agent,omitempty"`
	Frame    int              `json:"frame,omitempty"`    // 0 is the top-level agent
	Message  string           `json:"message,omitempty"`  // id of the message that a chunk belongs to
	Content  string           `json:"content,omitempty"`  // text of a chunk, a message or a result
	Streamed bool             `json:"streamed,omitempty"` // the message's text has gone out in chunks
	Calls    []model.ToolCall `json:"calls,omitempty"`    // that a message asks for
	Usage    *model.Usage     `json:"usage,omitempty"`    // of the turn that gave a message
	Model    string           `json:"model,omitempty"`    // that gave a message
	Call     string           `json:"call,omitempty"`
	Name     string           `json:"name,omitempty"`   // of the tool
	Input    json.RawMessage  `json:"input,omitempty"`  // of the tool, an object
	Status   string           `json:"status,omitempty"` // of a call or, on done, of the run
	Code     string           `json:"code,omitempty"`   // of an error or a refusal
	Leave    string           `json:"leave,omitempty"`  // id of the leave that a call waits for, or that was decided on
	Digest   string           `json:"digest,omitempty"` // of the call that waits
	Where    string           `json:"where,omitempty"`  // where the call that waits would run
	By       string           `json:"by,omitempty"`     // who decided
	People   int              `json:"people,omitempty"` // how many have to agree, when more than one
	Other    bool             `json:"other,omitempty"`  // whoever asked for the run is not one of them
	Todos    []todo.Item      `json:"todos,omitempty"`  // the plan; empty: none is left
	Expires  time.Time        `json:"expires,omitzero"` // when waiting ends
}

// speech is the redacted stream of one message.
type speech struct {
	log      *eventLog
	redactor *redact.TextStream
	event    Event
	spoken   bool
}

func (l *eventLog) speak(agent string, frame int, message string) *speech {
	return &speech{
		log: l, redactor: l.secrets.TextStream(),
		event: Event{Type: EventChunk, Agent: agent, Frame: frame, Message: message},
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
	m = shownMessage(s.log.secrets, m)
	e := s.event
	e.Type, e.Content, e.Streamed, e.Calls, e.Usage, e.Model = EventMessage, m.Content, s.spoken, m.ToolCalls, &resp.Usage, resp.Model
	s.log.append(e)
}

func (s *speech) emit(text []byte) {
	if len(text) == 0 {
		return
	}
	e := s.event
	e.Content = string(text)
	s.log.append(e)
}

// pickedUp tells of a message of an earlier run whose calls are made now. Its text was told then.
func (l *eventLog) pickedUp(agent string, m model.Message) {
	m = shownMessage(l.secrets, m)
	l.append(Event{Type: EventMessage, Agent: agent, Message: m.ID, Content: m.Content, Streamed: true, Calls: m.ToolCalls})
}

// waits tells of a call that waits for leave.
func (l *eventLog) waits(agent string, frame int, c Call, v waiting) {
	c.Arguments = cmp.Or(v.input, c.Arguments)
	l.append(Event{
		Type: EventWait, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name), Input: l.input(c),
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
	l.append(Event{Type: EventTodos, Agent: agent, Frame: frame, Call: call, Todos: shown})
}

// decided tells of leave that was given or refused. Leave without an id is not told of.
func (l *eventLog) decided(agent string, frame int, c Call, leave Leave) {
	if leave.ID == "" || leave.State == LeavePending {
		return
	}
	l.append(Event{
		Type: EventDecided, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name), Leave: leave.ID,
		Status: leave.word(), Content: l.secrets.Redact(leave.Reason), By: strings.Join(leave.By, ", "),
	})
}

// toolUse tells of a call that the gate has decided on.
func (l *eventLog) toolUse(agent string, frame int, c Call, status CallStatus, code, why string) {
	l.append(Event{
		Type: EventToolUse, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name),
		Input: l.input(c), Status: string(status), Code: code, Content: why,
	})
}

// input is what readers see of a call's arguments.
func (l *eventLog) input(c Call) json.RawMessage {
	input := json.RawMessage(l.secrets.RedactJSON([]byte(c.Arguments)))
	if !isObject(input) {
		return json.RawMessage("{}")
	}
	return input
}

func isObject(doc json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(doc, &fields) == nil && fields != nil
}
