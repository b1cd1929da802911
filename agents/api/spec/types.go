package spec

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/todo"
)

// Health is the answer of GET /health.
type Health struct {
	Status  string `json:"status" required:"true" enum:"healthy"`
	Service string `json:"service" required:"true"`
}

// Message is one message of a request.
type Message struct {
	Role    string `json:"role" required:"true" enum:"user,assistant" description:"who said it"`
	Content string `json:"content" required:"true" minLength:"1" description:"message text"`
}

// Input is what a run is given.
type Input struct {
	Messages []Message `json:"messages" required:"true" nullable:"false" minItems:"1" maxItems:"4096" description:"conversation messages, oldest first; the last one is the user's"`
}

// check holds what a schema cannot say: there must be something to answer.
func (in Input) check() error {
	if last := len(in.Messages) - 1; last < 0 || in.Messages[last].Role != "user" {
		return rest.Invalid(fmt.Sprintf("input.messages[%d].role: the last message must be the user's", last))
	}
	return nil
}

// Check implements [rest.Checked].
func (b *RunRequest) Check() error { return b.Input.check() }

// Check implements [rest.Checked].
func (b *ThreadRunRequest) Check() error { return b.Input.check() }

// RunRequest is the body of POST /runs/stream.
type RunRequest struct {
	Input       Input           `json:"input" required:"true"`
	Resumable   string          `query:"resumable" json:"-" enum:"0,1,true,false" description:"send an id with every event"`
	AssistantID string          `json:"assistant_id,omitempty" minLength:"1" default:"svc-orchestrator" description:"target agent"`
	ThreadID    string          `json:"thread_id,omitempty" format:"uuid" description:"conversation thread for multi-turn use"`
	UserID      string          `json:"user_id,omitempty" minLength:"1" description:"acts for this user; somebody else's needs the role admin"`
	Schema      json.RawMessage `json:"output_schema,omitempty" description:"a JSON Schema that the answer is to fit"`
	AutoApprove bool            `json:"auto_approve,omitempty" description:"goes on without a person where only rules of the program ask for one; needs the role admin"`
}

// ThreadRunRequest is RunRequest within a thread that the path names.
type ThreadRunRequest struct {
	ThreadPath
	Resumable   string          `query:"resumable" json:"-" enum:"0,1,true,false" description:"send an id with every event"`
	Input       Input           `json:"input" required:"true"`
	AssistantID string          `json:"assistant_id,omitempty" minLength:"1" default:"svc-orchestrator" description:"target agent"`
	UserID      string          `json:"user_id,omitempty" minLength:"1" description:"acts for this user; somebody else's needs the role admin"`
	Schema      json.RawMessage `json:"output_schema,omitempty" description:"a JSON Schema that the answer is to fit"`
	AutoApprove bool            `json:"auto_approve,omitempty" description:"goes on without a person where only rules of the program ask for one; needs the role admin"`
}

// ThreadPath is the path of a thread.
type ThreadPath struct {
	Thread string `path:"thread_id" json:"-" required:"true" format:"uuid"`
}

// JoinRequest is a request to join a run's stream.
type JoinRequest struct {
	ThreadPath
	LastEventID string `header:"Last-Event-ID" json:"-" description:"continue after this event; -1: from the start"`
	Resumable   string `query:"resumable" json:"-" enum:"0,1,true,false" description:"send an id with every event"`
}

// SearchQuery are the query parameters of GET /threads/search.
type SearchQuery struct {
	UserID string `query:"user_id" json:"-" description:"only this user's threads"`
	Status string `query:"status" json:"-" enum:"idle,busy,interrupted,error"`
	Limit  int    `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"10"`
	Offset int    `query:"offset" json:"-" minimum:"0" default:"0"`
}

// ThreadView is a thread as searches return it.
type ThreadView struct {
	ThreadID  string         `json:"thread_id" required:"true" format:"uuid"`
	UserID    string         `json:"user_id" required:"true"`
	Status    string         `json:"status" required:"true" enum:"idle,busy,interrupted,error"`
	CreatedAt time.Time      `json:"created_at" required:"true"`
	UpdatedAt time.Time      `json:"updated_at" required:"true"`
	Metadata  map[string]any `json:"metadata" required:"true"`
}

// StreamEvent is the data of one server-sent event. The type says which fields there are;
// clients skip types and fields that they do not know.
type StreamEvent struct {
	Type    string          `json:"type" required:"true" enum:"message_chunk,text,tool_use,tool_result,usage,todos,compacted,guardrail,approval_required,approval_decided,error,done"`
	Content string          `json:"content,omitempty" description:"message_chunk: a piece of the answer as it is generated; text: a message that was not streamed in pieces; compacted: what became of older messages; guardrail: what is wrong with an answer"`
	ID      string          `json:"id,omitempty" description:"tool_use, tool_result, todos: the call; approval_required, approval_decided: the approval, which has the id of its call"`
	Name    string          `json:"name,omitempty" description:"tool_use, tool_result: the tool"`
	Input   json.RawMessage `json:"input,omitempty" description:"tool_use, approval_required: the tool's input, an object"`
	Status  string          `json:"status,omitempty" description:"tool_use: denied, rejected or expired, for a call that was not made; tool_result: success, error, timeout, cancelled or unknown; compacted: summarised or left_out; guardrail: flagged, again (the answer so far does not count, another one follows) or withheld"`
	Reason  string          `json:"reason,omitempty" description:"tool_use: why it was not made; approval_required: why it waits; approval_decided: who decided and what they said"`
	Code    string          `json:"code,omitempty" description:"a stable word; error: what went wrong; tool_use: why the call was not made, such as policy_denied"`

	DurationMS *int64       `json:"duration_ms,omitempty" description:"tool_result: how long the call took, in milliseconds"`
	Usage      *model.Usage `json:"usage,omitempty" description:"usage, text: the tokens of the model turn that is over, of a sub-agent's too"`

	Items []todo.Item `json:"items,omitzero" description:"todos: the plan that the agent has written, each item with content and status (pending, in_progress or completed)"`

	Tool        string     `json:"tool,omitempty" description:"approval_required, approval_decided: the tool"`
	Digest      string     `json:"digest,omitempty" description:"approval_required: of the call; send it back with the decision"`
	Where       string     `json:"where,omitempty" description:"approval_required: where the call would run"`
	Approvers   int        `json:"approvers,omitempty" description:"approval_required: how many different people have to approve, when more than one"`
	OtherPerson bool       `json:"other_person,omitempty" description:"approval_required: who asked for the run is not one of them"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty" description:"approval_required: when waiting ends"`
	Decision    string     `json:"decision,omitempty" enum:"approved,edited,rejected,expired,refused" description:"approval_decided"`
	By          string     `json:"by,omitempty" description:"approval_decided: who decided"`

	Message string `json:"message,omitempty" description:"error: for people"`
}
