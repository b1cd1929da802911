// Package ask talks to the service's API as a client: it starts runs, follows their events, joins them
// again when a connection breaks, cancels them, and decides on calls that wait.
//
//	c := ask.Client{Service: target}
//	run, err := c.Start(ctx, thread, ask.Run{…})
//	err = run.Events(func(e ask.Event) bool { … })
//
// Nothing that comes from the service is safe to print as it is. A Client is safe for concurrent use, a
// [Stream] belongs to one goroutine.
package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/api/spec"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/suggest"
)

// maxAnswer bounds an answer that is no stream, in bytes.
const maxAnswer = 64 << 20

// Service sends requests. The error of an answer that is no success is a [problem.Problem] or wraps one.
type Service interface {
	Send(ctx context.Context, method, path string, in any, headers ...string) (*http.Response, error)
}

// Client is a client of the API.
type Client struct{ Service }

// Run is what a run is given.
type Run struct {
	Input       Input  `json:"input"`
	AssistantID string `json:"assistant_id,omitempty"`
	AutoApprove bool   `json:"auto_approve,omitempty"`
}

// Input is what is said.
type Input struct {
	Messages []Message `json:"messages"`
}

// Message is one message of it.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Prompt is a run with one message of the user.
func Prompt(text string) Run {
	return Run{Input: Input{Messages: []Message{{"user", text}}}}
}

// Start starts a run, in a thread unless that is empty, and returns the stream of its events.
func (c Client) Start(ctx context.Context, thread string, r Run) (*Stream, error) {
	path := "/runs/stream"
	if thread != "" {
		path = "/threads/" + url.PathEscape(thread) + path
	}
	resp, err := c.Send(ctx, http.MethodPost, path+"?resumable=1", r) //nolint:bodyclose // the stream closes it
	if err != nil {
		return nil, err
	}
	return newStream(c, resp), nil
}

// NewThread creates a thread and returns its id.
func (c Client) NewThread(ctx context.Context) (string, error) {
	var created struct {
		ThreadID string `json:"thread_id"`
	}
	return created.ThreadID, c.call(ctx, http.MethodPost, "/threads", struct{}{}, &created)
}

// Threads are the latest threads that the user may see.
func (c Client) Threads(ctx context.Context, limit int) ([]spec.ThreadView, error) {
	var list []spec.ThreadView
	return list, c.call(ctx, http.MethodGet, "/threads/search?limit="+strconv.Itoa(limit), nil, &list)
}

// Waiting are calls that wait for approval.
func (c Client) Waiting(ctx context.Context, limit int) ([]approval.View, error) {
	var list []approval.View
	return list, c.call(ctx, http.MethodGet, "/approvals?state=pending&limit="+strconv.Itoa(limit), nil, &list)
}

// Agent is one that can be asked.
type Agent struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Agents are those that can be asked.
func (c Client) Agents(ctx context.Context) ([]Agent, error) {
	var list []Agent
	return list, c.call(ctx, http.MethodPost, "/assistants/search", map[string]int{"limit": 1000}, &list)
}

// FindAgent reports that there is no such agent, as an error that names the one that is most like it.
func (c Client) FindAgent(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodGet, "/assistants/"+url.PathEscape(name), nil, nil)
	if !problem.HasCode(err, "assistant_not_found") {
		return err
	}
	all, err := c.Agents(ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, a := range all {
		known = append(known, a.Name)
	}
	return fmt.Errorf("there is no agent %s%s", name, suggest.DidYouMean(name, known))
}

// FindThread reports that there is no such thread, as an error that names the one that is most like it.
func (c Client) FindThread(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodGet, "/threads/"+url.PathEscape(id), nil, nil)
	if !problem.HasCode(err, "thread_not_found") && !problem.HasCode(err, "invalid_thread_id") {
		return err
	}
	latest, err := c.Threads(ctx, 100)
	if err != nil {
		return err
	}
	var known []string
	for _, t := range latest {
		known = append(known, t.ThreadID)
	}
	return fmt.Errorf("there is no thread %s that you may see%s", id, suggest.DidYouMean(id, known))
}

// Memory is something that agents know of the user.
type Memory struct {
	ID        string    `json:"memory_id"`
	Agent     string    `json:"agent"`
	Category  string    `json:"category"`
	Text      string    `json:"text"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Memories are what agents know of a user.
func (c Client) Memories(ctx context.Context, user string, limit int) ([]Memory, error) {
	var list []Memory
	return list, c.call(ctx, http.MethodGet, "/memories?user_id="+url.QueryEscape(user)+"&limit="+strconv.Itoa(limit), nil, &list)
}

// Decision is the body of POST /approvals/{id}.
type Decision struct {
	Decision approval.Decision `json:"decision"`
	Patch    json.RawMessage   `json:"patch,omitempty"`
	Comment  string            `json:"comment,omitempty"`
	Digest   string            `json:"digest"`
}

// Decide sends a decision and returns the approval as it is then.
func (c Client) Decide(ctx context.Context, id string, d Decision) (approval.View, error) {
	var v approval.View
	return v, c.call(ctx, http.MethodPost, "/approvals/"+url.PathEscape(id), d, &v)
}

// Cancel ends a run. path is its own, as [Stream.Run] says it.
func (c Client) Cancel(ctx context.Context, path string) error {
	if !strings.HasPrefix(path, "/") {
		return nil
	}
	return c.call(ctx, http.MethodPost, path+"/cancel", nil, nil)
}

// call sends a request and reads a JSON answer, unless out is nil.
func (c Client) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.Send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("reading the service's answer: %w", err)
	}
	return nil
}
