package langgraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/internal/problem"
)

// Kwargs are what is kept of a run's request beside its input, and shown again.
type Kwargs struct {
	Config          *Config        `json:"config,omitempty"`
	Context         map[string]any `json:"context,omitempty"`
	StreamMode      []mode         `json:"stream_mode"`
	Subgraphs       bool           `json:"subgraphs"`
	Resumable       bool           `json:"resumable"`
	Temporary       bool           `json:"temporary"`
	InterruptBefore []string       `json:"interrupt_before,omitempty"`
	InterruptAfter  []string       `json:"interrupt_after,omitempty"`
	Checkpoint      string         `json:"checkpoint_id,omitempty"`
}

// idempotencyKey is the header that tells a request that is sent again.
const idempotencyKey = "Idempotency-Key"

// start starts what a request asks for, or goes on with what waits.
func (d *dialect) start(ctx context.Context, r *http.Request, thread string, body *RunBody) (begun, error) {
	modes, err := readModes(body.StreamMode, "stream_mode")
	if err != nil {
		return begun{}, err
	}
	as, err := d.assistant(ctx, body.Assistant)
	if err != nil {
		return begun{}, err
	}
	as.under(body)
	if body.resumes() {
		return d.resume(ctx, r, thread, body, modes)
	}
	if body.resolves() {
		return d.resolve(ctx, r, thread, body, modes)
	}
	req, err := body.request(as, thread, modes)
	if err != nil {
		return begun{}, err
	}
	req.ID = r.Header.Get(idempotencyKey)
	view := d.View(r)
	if thread != "" && req.Input == nil && req.Values == nil && !req.RemoveAll && req.Remove == nil && req.Checkpoint == "" {
		run, err := view.Resume(ctx, thread, agents.Resumption{InterruptBefore: req.InterruptBefore, InterruptAfter: req.InterruptAfter})
		if err == nil {
			return d.goOn(ctx, run, body, modes)
		}
		if !errors.Is(err, agents.ErrNotInterrupted) {
			return begun{}, err
		}
	}
	run, err := view.Start(ctx, req)
	if errors.Is(err, agents.ErrBusy) && thread != "" {
		if t, err := view.Thread(ctx, thread); err == nil && t.Status == agents.ThreadInterrupted {
			return begun{}, threadWaits
		}
	}
	if err != nil {
		return begun{}, err
	}
	if thread != "" && run.First() {
		if _, err := view.UpdateThread(ctx, thread, agents.ThreadPatch{Metadata: map[string]any{"graph_id": as.Agent, "assistant_id": as.ID}}); err != nil {
			return begun{}, err
		}
	}
	return begun{
		reading: reading{run: run, t: newTranslator(d.about(run.RunInfo), modes, body.StreamSubgraphs), after: -1},
		cancel:  body.OnDisconnect == "cancel",
	}, nil
}

// about is what streams of a run tell of it.
func (d *dialect) about(run agents.RunInfo) about {
	return about{Run: run.ID, Thread: run.Thread, Assistant: run.Assistant, AssistantID: assistantOf(run), Created: run.Created}
}

// resumes reports whether the request answers what a run waits for.
func (b *RunBody) resumes() bool { return b.Command != nil && !isNull(b.Command.Resume) }

// outputSchema is where a request says what form the answer is to have.
const outputSchema = "output_schema"

// maxAfter is how far ahead a run may be asked for.
const maxAfter = 7 * 24 * time.Hour

// request is the run that the body asks for.
func (b *RunBody) request(as assistant, thread string, modes []mode) (agents.Request, error) {
	req := agents.Request{
		Assistant: as.Agent, Thread: thread, CreateThread: thread != "" && b.IfNotExists == "create", Multitask: agents.Multitask(b.Multitask), Metadata: b.Metadata,
		Webhook: b.Webhook, KeepThread: b.OnCompletion == "keep", DeleteThread: thread == "" && b.OnCompletion == "delete", Checkpoint: b.CheckpointID,
	}
	c, err := readChange(b.Input, "input")
	if err != nil {
		return req, err
	}
	if b.Command != nil {
		if err := b.Command.read(&c, &req); err != nil {
			return req, err
		}
	}
	req.Input, req.Remove, req.RemoveAll, req.Values = c.Messages, c.Remove, c.RemoveAll, c.Values
	if b.AfterSeconds < 0 || b.AfterSeconds > maxAfter.Seconds() {
		return req, rest.Invalid(fmt.Sprintf("after_seconds: must be a number from 0 to %.0f", maxAfter.Seconds()))
	}
	req.After = time.Duration(b.AfterSeconds * float64(time.Second))
	if b.Checkpoint != nil {
		switch at := b.Checkpoint; {
		case at.ThreadID != "" && at.ThreadID != thread:
			return req, rest.Invalid("checkpoint.thread_id: must be the thread of the path")
		case at.Namespace != "":
			return req, rest.Invalid("checkpoint.checkpoint_ns: must be empty; a run begins at a checkpoint of the graph, not of a sub-agent")
		case b.CheckpointID != "" && at.ID != "" && b.CheckpointID != at.ID:
			return req, rest.Invalid("checkpoint_id: must be the one of checkpoint, or be left out")
		case at.ID != "":
			req.Checkpoint = at.ID
		}
	}
	if req.Checkpoint != "" && thread == "" {
		return req, rest.Invalid("checkpoint: belongs to a thread; POST /threads/{thread_id}/runs/… names one")
	}
	if b.Config != nil {
		if b.Config.RecursionLimit < 0 {
			return req, rest.Invalid("config.recursion_limit: must be at least 1")
		}
		req.MaxSteps = b.Config.RecursionLimit
		if schema := b.Config.Configurable[outputSchema]; schema != nil {
			if req.Form, err = json.Marshal(schema); err != nil {
				return req, rest.Invalid("config.configurable.output_schema: cannot be read")
			}
		}
	}
	if req.InterruptBefore, err = readNodes(b.InterruptBefore, "interrupt_before"); err != nil {
		return req, err
	}
	if req.InterruptAfter, err = readNodes(b.InterruptAfter, "interrupt_after"); err != nil {
		return req, err
	}
	if thread == "" && len(req.Input) == 0 {
		return req, rest.Invalid("input: is missing; a run on a thread of its own has nothing else to go on with")
	}
	if req.Kwargs, err = json.Marshal(Kwargs{
		Config: b.Config, Context: b.Context, StreamMode: modes, Subgraphs: b.StreamSubgraphs, Resumable: b.StreamResumable, Temporary: thread == "",
		InterruptBefore: req.InterruptBefore, InterruptAfter: req.InterruptAfter, Checkpoint: req.Checkpoint,
	}); err != nil {
		return req, rest.Invalid("config: cannot be kept")
	}
	return req, nil
}

// nodes are those of every graph that a run can stop at or go to.
var nodes = []string{tree.NodeAgent, tree.NodeTools}

// read adds what a command changes.
func (c *Command) read(to *change, req *agents.Request) error {
	update := c.Update
	var pairs [][]json.RawMessage
	if kindOf(update) == "array" { // [["messages", …]]
		if json.Unmarshal(update, &pairs) != nil {
			return rest.Invalid("command.update: must be an object, or pairs of a name and a value")
		}
		members := map[string]json.RawMessage{}
		for i, p := range pairs {
			var name string
			if len(p) != 2 || json.Unmarshal(p[0], &name) != nil {
				return rest.Invalid(fmt.Sprintf("command.update[%d]: must be a pair of a name and a value", i))
			}
			members[name] = p[1]
		}
		update = encode(members)
	}
	more, err := readChange(update, "command.update")
	if err != nil {
		return err
	}
	to.Messages = append(to.Messages, more.Messages...)
	to.Remove = append(to.Remove, more.Remove...)
	to.RemoveAll = to.RemoveAll || more.RemoveAll
	for name, v := range more.Values {
		if to.Values == nil {
			to.Values = map[string]any{}
		}
		to.Values[name] = v
	}
	if isNull(c.Goto) {
		return nil
	}
	next, err := readNodes(c.Goto, "command.goto")
	if err == nil && len(next) != 1 || slices.Contains(next, "*") {
		err = rest.Invalid("command.goto: must be one node, " + strings.Join(nodes, " or "))
	}
	if err == nil {
		req.Goto = next[0]
	}
	return err
}

// readNodes reads names of nodes: one, or several, or "*" for all.
func readNodes(doc json.RawMessage, where string) ([]string, error) {
	names, ok := oneOrSeveral(doc)
	if !ok {
		return nil, rest.Invalid(where + ": must be a node, several in an array, or \"*\"")
	}
	for i, name := range names {
		if name != "*" && !slices.Contains(nodes, name) {
			return nil, rest.Invalid(fmt.Sprintf("%s[%d]: must be one of %s, *, got %q", where, i, strings.Join(nodes, ", "), name))
		}
	}
	return names, nil
}

// threadWaits is the answer to who starts a run where another one waits.
var threadWaits = problem.Problem{
	Status: http.StatusConflict, Code: "thread_busy",
	Detail: "the thread's run waits for an answer: give it with command.resume or input.respond, " +
		"or start this run in its place with multitask_strategy interrupt, or after it with enqueue",
}

// notInterrupted is the answer to a resume of what does not wait.
var notInterrupted = problem.Problem{
	Status: http.StatusConflict, Code: "not_interrupted",
	Detail: "command.resume: no run of the thread waits for anything; GET /threads/{thread_id}/state shows what it waits for",
}
