package agents

import (
	"encoding/json"

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
	EventResult  EventType = "tool_result"   // a call has its result
	EventError   EventType = "error"         // the run failed
	EventDone    EventType = "done"          // the run is over; its status is final
)

// Event is one entry of a run's event log. It holds no credential: the runtime redacts before
// it appends. Which fields are set depends on the type.
type Event struct {
	Seq      int             `json:"seq"` // from 0, without gaps
	Type     EventType       `json:"type"`
	Agent    string          `json:"agent,omitempty"`
	Frame    int             `json:"frame,omitempty"`    // 0 is the top-level agent
	Message  string          `json:"message,omitempty"`  // id of the message that a chunk belongs to
	Content  string          `json:"content,omitempty"`  // text of a chunk, a message or a result
	Streamed bool            `json:"streamed,omitempty"` // the message's text has gone out in chunks
	Call     string          `json:"call,omitempty"`
	Name     string          `json:"name,omitempty"`   // of the tool
	Input    json.RawMessage `json:"input,omitempty"`  // of the tool, an object
	Status   string          `json:"status,omitempty"` // of a call or, on done, of the run
	Code     string          `json:"code,omitempty"`   // of an error or a refusal
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

// end appends the rest and the complete message. An empty message is not told.
func (s *speech) end(content string) {
	s.emit(s.redactor.Close(nil))
	if content == "" {
		return
	}
	e := s.event
	e.Type, e.Content, e.Streamed = EventMessage, s.log.secrets.Redact(content), s.spoken
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

// toolUse tells of a call that the gate has decided on.
func (l *eventLog) toolUse(agent string, frame int, c Call, status CallStatus, code, why string) {
	input := json.RawMessage(l.secrets.RedactJSON([]byte(c.Arguments)))
	if !isObject(input) {
		input = json.RawMessage("{}")
	}
	l.append(Event{
		Type: EventToolUse, Agent: agent, Frame: frame, Call: c.ID, Name: l.secrets.Redact(c.Name),
		Input: input, Status: string(status), Code: code, Content: why,
	})
}

func isObject(doc json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(doc, &fields) == nil && fields != nil
}
