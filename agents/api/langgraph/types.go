package langgraph

import (
	"encoding/json"
	"reflect"
	"strings"
)

// ThreadPath is the path of a thread.
type ThreadPath struct {
	Thread string `path:"thread_id" json:"-" required:"true" format:"uuid"`
}

// RunPath is the path of a run.
type RunPath struct {
	ThreadPath
	Run string `path:"run_id" json:"-" required:"true" format:"uuid"`
}

// Checkpoint names a checkpoint.
type Checkpoint struct {
	ThreadID  string          `json:"thread_id,omitempty"`
	Namespace string          `json:"checkpoint_ns" description:"of a subgraph; empty for the graph"`
	ID        string          `json:"checkpoint_id,omitempty"`
	Map       json.RawMessage `json:"checkpoint_map" description:"of subgraphs; null"`
}

// Command goes on with a run, or changes what comes next.
type Command struct {
	Resume json.RawMessage `json:"resume,omitempty" description:"the answer to what the run waits for: {\"decisions\": [{\"type\": \"approve\"}]}, a single value, or answers by the ids of interrupts"`
	Update json.RawMessage `json:"update,omitempty" description:"values that are written into the state first, or pairs of a name and a value"`
	Goto   json.RawMessage `json:"goto,omitempty" description:"the node that comes next"`
}

// Config configures a run.
type Config struct {
	Tags           []string       `json:"tags,omitempty" nullable:"false"`
	RecursionLimit int            `json:"recursion_limit,omitempty" description:"how many steps the run may take"`
	Configurable   map[string]any `json:"configurable,omitempty" nullable:"false"`
}

// RunBody is what a run is asked for with.
type RunBody struct {
	Assistant       string          `json:"assistant_id" required:"true" minLength:"1" description:"an assistant's id, or the name of an agent"`
	Input           json.RawMessage `json:"input,omitempty" description:"values that are written into the state, such as {\"messages\": […]}; null goes on with what comes next"`
	Command         *Command        `json:"command,omitempty" nullable:"false"`
	Config          *Config         `json:"config,omitempty" nullable:"false"`
	Context         map[string]any  `json:"context,omitempty" nullable:"false"`
	Metadata        map[string]any  `json:"metadata,omitempty" nullable:"false"`
	StreamMode      json.RawMessage `json:"stream_mode,omitempty" description:"values, updates, messages, messages-tuple, custom, events, debug, tasks, checkpoints or tools, or several of them"`
	StreamSubgraphs bool            `json:"stream_subgraphs,omitempty" description:"tell of sub-agents too"`
	StreamResumable bool            `json:"stream_resumable,omitempty" description:"every stream is, whatever this says"`
	FeedbackKeys    []string        `json:"feedback_keys,omitempty" nullable:"false" description:"not used"`
	InterruptBefore json.RawMessage `json:"interrupt_before,omitempty" description:"nodes before which the run stops, or \"*\""`
	InterruptAfter  json.RawMessage `json:"interrupt_after,omitempty" description:"nodes after which the run stops, or \"*\""`
	Checkpoint      *Checkpoint     `json:"checkpoint,omitempty" nullable:"false" description:"where the run begins"`
	CheckpointID    string          `json:"checkpoint_id,omitempty" format:"uuid" description:"the same"`
	Webhook         string          `json:"webhook,omitempty" description:"is told of the run's end"`
	Multitask       string          `json:"multitask_strategy,omitempty" enum:"reject,enqueue,interrupt,rollback" default:"reject" description:"what becomes of the run while another one has the thread"`
	OnCompletion    string          `json:"on_completion,omitempty" enum:"delete,keep" description:"of a run without a thread: whether its thread stays"`
	OnDisconnect    string          `json:"on_disconnect,omitempty" enum:"cancel,continue" default:"continue" description:"what becomes of the run when its client leaves"`
	AfterSeconds    float64         `json:"after_seconds,omitempty" description:"the run starts so much later"`
	IfNotExists     string          `json:"if_not_exists,omitempty" enum:"create,reject" default:"reject" description:"what becomes of a run on a thread that is not there"`

	CheckpointDuring bool            `json:"checkpoint_during,omitempty" description:"not used: all that is needed to go on is kept"`
	Durability       string          `json:"durability,omitempty" enum:"sync,async,exit" description:"not used: what a stream has told is kept"`
	Tracer           json.RawMessage `json:"langsmith_tracer,omitempty" description:"not used"`
	StrictResume     bool            `json:"strict_resume,omitempty" description:"not used: every resume is"`
}

// ThreadRunBody is RunBody on a thread.
type ThreadRunBody struct {
	ThreadPath
	RunBody
}

// runMembers are the members of a run's body.
var runMembers = members(reflect.TypeFor[RunBody]())

// Knows reports whether a run's request in this dialect has a member with a name.
func Knows(name string) bool { return runMembers[name] }

// membersOf are the names of the members of a body.
func membersOf[T any]() map[string]bool { return members(reflect.TypeFor[T]()) }

// members are the names of the members that JSON of a type has.
func members(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			for inner := range members(f.Type) {
				names[inner] = true
			}
		case name != "" && name != "-":
			names[name] = true
		}
	}
	return names
}

// Run is a run as it is shown.
type Run struct {
	RunID       string          `json:"run_id" required:"true" format:"uuid"`
	ThreadID    string          `json:"thread_id" required:"true" format:"uuid"`
	AssistantID string          `json:"assistant_id" required:"true" format:"uuid"`
	CreatedAt   string          `json:"created_at" required:"true"`
	UpdatedAt   string          `json:"updated_at" required:"true"`
	Status      string          `json:"status" required:"true" enum:"pending,running,error,success,timeout,interrupted"`
	Metadata    map[string]any  `json:"metadata" required:"true" nullable:"false"`
	Kwargs      json.RawMessage `json:"kwargs" required:"true"`
	Multitask   string          `json:"multitask_strategy" required:"true" enum:"reject,enqueue,interrupt,rollback"`
}

// Thread is a thread as it is shown.
type Thread struct {
	ThreadID       string                 `json:"thread_id" required:"true" format:"uuid"`
	CreatedAt      string                 `json:"created_at" required:"true"`
	UpdatedAt      string                 `json:"updated_at" required:"true"`
	StateUpdatedAt string                 `json:"state_updated_at" required:"true"`
	Metadata       map[string]any         `json:"metadata" required:"true" nullable:"false"`
	Status         string                 `json:"status" required:"true" enum:"idle,busy,interrupted,error"`
	Config         map[string]any         `json:"config" required:"true" nullable:"false"`
	Values         any                    `json:"values" description:"of its state; null when nothing was written"`
	Interrupts     map[string][]Interrupt `json:"interrupts" required:"true" nullable:"false" description:"what its run waits for, by tasks"`
	TTL            *TTLView               `json:"ttl,omitempty"`
}

// TTLView says when a thread is removed.
type TTLView struct {
	Strategy string  `json:"strategy"`
	Minutes  float64 `json:"ttl_minutes"`
}
