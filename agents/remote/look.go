package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gowebpki/jcs"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/remote/protocol"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/plaintext"
)

// look asks the remote how a task stands, and keeps what is new. seen says that the model is about to be told.
// The task that it returns is the newest; with an error, what was known before. A task that is over stays so.
func (t *Tasks) look(ctx context.Context, r *Remote, task Task, seen bool) (Task, error) {
	for {
		now, err := t.lookOnce(ctx, r, task, seen)
		if !errors.Is(err, ErrConflict) {
			return now, err
		}
		// what was asked may be older than what somebody else knows
		if task, err = t.Store.RemoteTask(ctx, task.ID); err != nil {
			return task, err
		}
	}
}

// lookOnce is look, unless somebody changes the task meanwhile: then the error is ErrConflict.
func (t *Tasks) lookOnce(ctx context.Context, r *Remote, task Task, seen bool) (Task, error) {
	if task.Status.Final() {
		return task, nil
	}
	now, err := r.ask(ctx, task)
	if err != nil {
		return task, err
	}
	now.Answer = cut(t.secrets().Redact(now.Answer), maxAnswer)
	told := now.Status != task.Status && now.Status != Running || !same(now.Asks, task.Asks)
	now.Unread = (now.Unread || told) && !seen
	if !told && now.Unread == task.Unread && now.Status == task.Status && now.RemoteRun == task.RemoteRun {
		return task, nil
	}
	if err := t.save(ctx, &now); err != nil {
		return task, err
	}
	if told {
		err = t.record(ctx, &now)
	}
	return now, err
}

// ask asks the remote how a task stands.
func (r *Remote) ask(ctx context.Context, task Task) (Task, error) {
	var run protocol.Run
	var err error
	var there bool
	if task.Status == Running && task.RemoteRun != "" {
		run, err = r.Client.Run(ctx, task.RemoteThread, task.RemoteRun)
		there = !protocol.Gone(err)
	} else {
		run, there, err = r.Client.Latest(ctx, task.RemoteThread)
	}
	switch {
	case err != nil && !protocol.Gone(err):
		return task, err
	case !there:
		task.Status, task.Failure, task.Asks = Failed, "the remote does not have the task, or does not have it any more", nil
		return task, nil
	}
	if run.ID != task.RemoteRun {
		task.RemoteRun, task.LastEvent, task.Steps = run.ID, "", 0
	}
	if run.Status == protocol.Pending || run.Status == protocol.Running {
		task.Status, task.Asks = Running, nil
		return task, nil
	}
	state, err := r.Client.State(ctx, task.RemoteThread)
	if err != nil {
		return task, err
	}
	task.Answer, task.Asks, task.Failure = said(state.Values), nil, ""
	switch waits := len(state.Interrupts) > 0; {
	case run.Status == protocol.Failed:
		task.Status, task.Failure = Failed, "the remote's run failed"
	case run.Status == protocol.Timeout:
		task.Status, task.Failure = Timeout, "the remote's run took too long"
	case waits:
		task.Status, task.Asks = Waiting, readAsks(state.Interrupts)
	case run.Status == protocol.Interrupted:
		task.Status = Cancelled
	default:
		task.Status = Success
	}
	return task, nil
}

// record puts on record what became of a task.
func (t *Tasks) record(ctx context.Context, task *Task) error {
	input, err := encode(map[string]any{"task": task.ID, "remote_thread": task.RemoteThread, "remote_run": task.RemoteRun, "asks": task.Asks})
	if err != nil {
		return err
	}
	return t.Audit.Queue(context.WithoutCancel(ctx), audit.Event{
		Type: audit.RemoteTask, Thread: task.Thread, Agent: task.name(), User: task.Owner, Status: string(task.Status),
		Input: string(input), Output: task.Answer, Error: task.Failure, Labels: []string{task.label()},
	})
}

// same reports whether a remote asks for the same things, however they are written.
func same(a, b *Asks) bool {
	x, err1 := canonical(a)
	y, err2 := canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// canonical is the one form of what a remote asks for (RFC 8785).
func canonical(a *Asks) ([]byte, error) {
	doc, err := encode([]*Asks{a})
	if err != nil {
		return nil, err
	}
	return jcs.Transform(doc)
}

// said is what a remote said last: the text of the last message that is not the user's or, in a state without
// messages, the state.
func said(values json.RawMessage) string {
	var state struct {
		Messages []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(values, &state) != nil || state.Messages == nil {
		return plaintext.Clean(plaintext.Whole(values[:min(len(values), maxAnswer)]))
	}
	for i := len(state.Messages) - 1; i >= 0; i-- {
		m := state.Messages[i]
		if m.Type != "ai" && m.Role != "assistant" {
			continue
		}
		if text := textOf(m.Content); text != "" {
			return plaintext.Clean([]byte(text))
		}
	}
	return ""
}

// textOf is the text of a message's content: a string, or blocks some of which are text.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// cut is the beginning of a text, with a note where there is more.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return string(plaintext.Whole([]byte(text[:most]))) + "\n[cut: there is more]"
}

// trouble writes down what keeps a task from being followed for now.
func (t *Tasks) trouble(id string, err error) {
	t.Log.Debug("following a task of a remote sub-agent failed, trying again", zap.String("task", id), zap.Error(err))
}
