package eventlog

import (
	"encoding/json"
	"time"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/todo"
)

// Type names what an [Event] tells.
type Type string

// The events of a run's log. Done is always the last one.
const (
	Chunk   Type = "message_chunk" // a piece of a message as it is generated
	Message Type = "message"       // a message is complete
	ToolUse Type = "tool_use"      // the gate has decided on a call
	Wait    Type = "tool_wait"     // a call waits for leave
	Decided Type = "tool_decided"  // leave was given or refused, see Status
	Result  Type = "tool_result"   // a call has its result
	Opened  Type = "opened"        // a call opened a frame for a sub-agent, which got a task
	Compact Type = "compacted"     // older messages were summarised for the model, or left out; see Status
	Todos   Type = "todos"         // an agent has written its plan
	Guarded Type = "guardrail"     // something is wrong with an agent's answer, see Status and Code
	Paused  Type = "paused"        // nothing goes on until a call that waits has leave
	Error   Type = "error"         // the run failed
	Done    Type = "done"          // the run is over; its status is final
)

// Event is one entry of a run's event log. It holds no credential: the runtime redacts before
// it appends. Which fields are set depends on the type.
type Event struct {
	Seq      int              `json:"seq"` // from 0, without gaps
	Type     Type             `json:"type"`
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
	Took     time.Duration    `json:"took,omitempty"`   // from a call's intent to its result; zero without an intent
}
