package langgraph

import (
	"encoding/json"

	"github.com/svc-gateway/svc/agents"
)

// shownStatus is where a run stands, in the protocol's words: what was cancelled and what waits are
// interrupted.
func shownStatus(s agents.Status) string {
	if s == agents.Cancelled {
		return string(agents.Interrupted)
	}
	return string(s)
}

// shownRun is a run as it is shown.
func shownRun(r agents.RunInfo) Run {
	run := Run{
		RunID: r.ID, ThreadID: r.Thread, AssistantID: assistantOf(r), CreatedAt: stamp(r.Created), UpdatedAt: stamp(r.Updated),
		Status: shownStatus(r.Status), Metadata: r.Metadata, Kwargs: r.Kwargs, Multitask: string(r.Multitask),
	}
	if run.Metadata == nil {
		run.Metadata = none
	}
	if len(run.Kwargs) == 0 {
		run.Kwargs = json.RawMessage("{}")
	}
	if run.Multitask == "" {
		run.Multitask = string(agents.MultitaskReject)
	}
	return run
}

// shownThread is a thread as it is shown, with its state; nil: without.
func shownThread(t agents.Thread, state *agents.Checkpoint) Thread {
	shown := Thread{
		ThreadID: t.ID, CreatedAt: stamp(t.Created), UpdatedAt: stamp(t.Updated), StateUpdatedAt: stamp(t.Updated), Metadata: t.Metadata,
		Status: string(t.Status), Config: none, Interrupts: map[string][]Interrupt{},
	}
	if shown.Metadata == nil {
		shown.Metadata = none
	}
	if t.TTL > 0 {
		shown.TTL = &TTLView{"delete", t.TTL.Minutes()}
	}
	if state == nil || state.ID == "" && len(state.Values) == 0 {
		return shown
	}
	shown.Values = values(wireAll(state.Messages), state.Values)
	for _, i := range state.Interrupts {
		id := taskID(state.ID, i.Node)
		if len(i.Calls) == 0 { // a stop asks nothing
			shown.Interrupts[id] = []Interrupt{}
			continue
		}
		shown.Interrupts[id] = append(shown.Interrupts[id], shownInterrupt(i))
	}
	return shown
}

// Ended is what a server that a request has named is told of the run's end.
type Ended struct {
	Run
	Values map[string]any  `json:"values"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// RunEnded is how the end of a run is told.
func RunEnded(end agents.RunEnd) any {
	e := Ended{Run: shownRun(end.Run), Values: values(wireAll(end.Messages), end.Values)}
	if f := end.Run.Failure; f != nil {
		e.Error = encode(map[string]string{"error": f.Code, "message": f.Message})
	}
	return e
}
