package langgraph

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
)

// CommandBody is the body of POST /threads/{thread_id}/commands, and a message of a WebSocket.
type CommandBody struct {
	ThreadPath
	ID     *int64          `json:"id" required:"true" nullable:"false" description:"comes back with the reply"`
	Method string          `json:"method" required:"true" minLength:"1" description:"run.start, input.respond, state.get, state.listCheckpoints, state.fork or agent.getTree; on a WebSocket also subscription.subscribe, subscription.unsubscribe and subscription.reconnect"`
	Params json.RawMessage `json:"params,omitempty" description:"of the method"`
}

// CommandReply is the reply to a command.
type CommandReply struct {
	Type    string     `json:"type" enum:"success,error"`
	ID      *int64     `json:"id"`
	Result  any        `json:"result,omitempty"`
	Error   string     `json:"error,omitempty" description:"a code"`
	Message string     `json:"message,omitempty"`
	Meta    *ReplyMeta `json:"meta,omitempty"`
}

// ReplyMeta says how far the thread was when a command took effect.
type ReplyMeta struct {
	Thread  string `json:"thread_id"`
	Applied int64  `json:"applied_through_seq" description:"before the first event of the thread's latest run; as since, it gives the events of that run"`
}

// The types of replies.
const (
	replySuccess = "success"
	replyError   = "error"
)

// commandError is an error with a code of the protocol.
type commandError struct{ code, message string }

func (e *commandError) Error() string { return e.message }

// Codes of the protocol that this package answers with.
const (
	codeInvalid      = "invalid_argument"
	codeUnknown      = "unknown_command"
	codeUnsupported  = "not_supported"
	codeRun          = "no_such_run"
	codeSubscription = "no_such_subscription"
	codeNamespace    = "no_such_namespace"
	codeInterrupt    = "no_such_interrupt"
	codeCheckpoint   = "no_such_checkpoint"
	codeDenied       = "permission_denied"
)

// codes are the protocol's words for the codes of problems. What it has no word for keeps its own.
var codes = map[string]string{
	"invalid_input": codeInvalid, "run_not_found": codeRun, "checkpoint_not_found": codeCheckpoint, "not_interrupted": codeInterrupt,
	"approval_not_found": codeInterrupt,
}

// failed is the reply to a command that had no effect.
func failed(err error) CommandReply {
	if e, ok := errors.AsType[*commandError](err); ok {
		return CommandReply{Type: replyError, Error: e.code, Message: e.message}
	}
	p := rest.Problem(err)
	code := p.Code
	switch {
	case codes[code] != "":
		code = codes[code]
	case p.Status == http.StatusForbidden:
		code = codeDenied
	case p.Status == http.StatusUnprocessableEntity:
		code = codeInvalid
	}
	return CommandReply{Type: replyError, Error: code, Message: p.Detail}
}

// command is one command of a thread. The request says who asks.
type command struct {
	r      *http.Request
	thread string
	params json.RawMessage
}

// methods are the commands that need no connection of their own.
var methods = map[string]func(*dialect, *command) (any, error){
	"run.start":             (*dialect).runStart,
	"input.respond":         (*dialect).respond,
	"state.get":             (*dialect).stateGet,
	"state.listCheckpoints": (*dialect).listCheckpoints,
	"state.fork":            (*dialect).fork,
	"agent.getTree":         (*dialect).agentTree,
}

// command serves POST /threads/{thread_id}/commands. What is wrong with a command is told by a reply with
// status 200, as clients expect it; what keeps everything of the thread from the caller is a problem.
func (d *dialect) command(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body CommandBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[CommandBody]()) {
		return
	}
	reply, err := d.obey(r, thread, &body)
	if err != nil {
		if outOfReach(err) {
			d.Fail(w, r, err)
			return
		}
		reply = failed(err)
	}
	reply.ID, reply.Meta = body.ID, d.meta(r, thread)
	rest.WriteJSON(w, reply)
}

// outOfReach reports whether an error is not the command's: the thread is not there for the caller, which also
// cannot create one that is somebody else's, or the service cannot do anything for it now.
func outOfReach(err error) bool {
	if _, ok := errors.AsType[*commandError](err); ok {
		return false
	}
	p := rest.Problem(err)
	switch p.Status {
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		return true
	}
	return p.Code == "thread_not_found" || p.Code == "thread_exists" || p.Status >= http.StatusInternalServerError
}

// obey does what a command says.
func (d *dialect) obey(r *http.Request, thread string, body *CommandBody) (CommandReply, error) {
	do := methods[body.Method]
	if do == nil {
		return CommandReply{}, &commandError{codeUnknown, "method: there is no command " + printable(body.Method)}
	}
	params := body.Params
	if isNull(params) {
		params = json.RawMessage("{}")
	}
	if object(params) == nil {
		return CommandReply{}, rest.Invalid("params: must be of type object, got " + kindOf(params))
	}
	params, _ = rest.Open(params, nil)
	result, err := rest.Aside(func() (any, error) { return do(d, &command{r, thread, params}) })
	return CommandReply{Type: replySuccess, Result: result}, err
}

// printable is the name of a method as it may be repeated to its sender.
func printable(name string) string {
	if len(name) > 64 {
		name = name[:64]
	}
	return string(encode(name))
}

// meta says how far the thread is. A thread that is not there has come to nothing.
func (d *dialect) meta(r *http.Request, thread string) *ReplyMeta {
	m := &ReplyMeta{Thread: thread}
	if run, ok, err := d.View(r).LatestBegun(r.Context(), thread); err == nil && ok {
		m.Applied = int64(run.First) << indexBits
	}
	return m
}

// Started is the result of commands that start a run, or go on with one.
type Started struct {
	Run    string `json:"run_id"`
	Thread string `json:"thread_id,omitempty"`
}

// renamed are members of run.start that the body of a run has under another name.
var renamed = map[string]string{"multitaskStrategy": "multitask_strategy"}

// ofRun are the parameters of run.start that mean something in the body of a run.
var ofRun = []string{"assistant_id", "input", "config", "context", "metadata", "multitask_strategy", "webhook", "interrupt_before", "interrupt_after", "after_seconds"}

func (d *dialect) runStart(c *command) (any, error) {
	members := map[string]json.RawMessage{}
	for name, v := range object(c.params) {
		if to := renamed[name]; to != "" {
			name = to
		}
		if slices.Contains(ofRun, name) {
			members[name] = v
		}
	}
	return d.starts(c, members)
}

// starts starts a run with the members of a body of one. The thread is created if there is none.
func (d *dialect) starts(c *command, members map[string]json.RawMessage) (any, error) {
	members["if_not_exists"] = encode("create")
	doc, _ := rest.Open(encode(members), nil)
	var body ThreadRunBody
	if err := d.Into(doc, &body); err != nil {
		return nil, err
	}
	if body.Config != nil && body.CheckpointID == "" {
		switch at := body.Config.Configurable["checkpoint_id"].(type) {
		case nil:
		case string:
			id, ok := rest.UUID(at)
			if !ok {
				return nil, rest.Invalid("config.configurable.checkpoint_id: must be a valid uuid")
			}
			body.CheckpointID = id
		default:
			return nil, rest.Invalid("config.configurable.checkpoint_id: must be of type string")
		}
	}
	b, err := d.start(c.r.Context(), c.r, c.thread, &body.RunBody)
	if err != nil {
		return nil, err
	}
	return Started{Run: b.run.ID}, nil
}

// Fork is what state.fork is sent with.
type Fork struct {
	Checkpoint string          `json:"checkpoint_id"`
	Input      json.RawMessage `json:"input"`
	Config     json.RawMessage `json:"config"`
}

func (d *dialect) fork(c *command) (any, error) {
	var in Fork
	if err := json.Unmarshal(c.params, &in); err != nil {
		return nil, rest.Invalid("params: " + wrongType(err))
	}
	if _, ok := rest.UUID(in.Checkpoint); !ok {
		return nil, rest.Invalid("checkpoint_id: must be the id of a checkpoint; state.listCheckpoints lists them")
	}
	last, err := d.View(c.r).LatestRun(c.r.Context(), c.thread)
	if err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{"assistant_id": encode(last.Assistant), "checkpoint_id": encode(in.Checkpoint)}
	for name, v := range map[string]json.RawMessage{"input": in.Input, "config": in.Config} {
		if !isNull(v) {
			members[name] = v
		}
	}
	result, err := d.starts(c, members)
	if started, ok := result.(Started); ok {
		started.Thread = c.thread
		result = started
	}
	return result, err
}

// Respond is what input.respond is sent with: one answer, or several.
type Respond struct {
	Response
	Responses []Response      `json:"responses"`
	Update    json.RawMessage `json:"update"`
	Goto      json.RawMessage `json:"goto"`
}

// Response is the answer to one interrupt.
type Response struct {
	Namespace []string        `json:"namespace"`
	Interrupt string          `json:"interrupt_id"`
	Response  json.RawMessage `json:"response"`
}

func (d *dialect) respond(c *command) (any, error) {
	var in Respond
	if err := json.Unmarshal(c.params, &in); err != nil {
		return nil, rest.Invalid("params: " + wrongType(err))
	}
	if more := besideAnswer(in.Update, in.Goto); more != "" {
		return nil, &commandError{codeUnsupported, more + ": cannot come with an answer" + insteadOfMore}
	}
	answers := in.Responses
	if answers == nil {
		answers = []Response{in.Response}
	}
	now, err := d.View(c.r).State(c.r.Context(), c.thread, "")
	if err != nil {
		return nil, err
	}
	resume := map[string]json.RawMessage{}
	for _, a := range answers {
		if a.Interrupt == "" {
			return nil, rest.Invalid("interrupt_id: is missing")
		}
		i := slices.IndexFunc(now.Interrupts, func(i agents.Interrupt) bool { return i.ID == a.Interrupt })
		if i < 0 {
			return nil, &commandError{codeInterrupt, "interrupt_id: the thread waits for no answer with the id " + printable(a.Interrupt)}
		}
		if len(a.Namespace) > 0 && !slices.Equal(a.Namespace, segments(now.Interrupts[i].Namespace)) {
			return nil, &commandError{codeNamespace, "namespace: must be the one that input.requested came in"}
		}
		if a.Response == nil {
			a.Response = json.RawMessage("null")
		}
		resume[a.Interrupt] = a.Response
	}
	if len(resume) == 0 {
		return nil, rest.Invalid("responses: must have at least one answer")
	}
	b, err := d.resume(c.r.Context(), c.r, c.thread, &RunBody{Command: &Command{Resume: encode(resume)}}, nil)
	if err != nil {
		return nil, err
	}
	return Started{Run: b.run.ID}, nil
}
