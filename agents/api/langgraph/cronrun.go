package langgraph

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/policy"
)

// runOf is the run that a body asks an assistant for, which the principal of the context sees.
func (d *dialect) runOf(ctx context.Context, named, thread string, body RunBody) (assistant, agents.Request, error) {
	as, err := d.assistant(ctx, named)
	if err != nil {
		return as, agents.Request{}, err
	}
	modes, err := readModes(body.StreamMode, "stream_mode")
	if err != nil {
		return as, agents.Request{}, err
	}
	as.under(&body)
	req, err := body.request(as, thread, modes)
	return as, req, err
}

// startable is the assistant of a cron whose runs a body asks for. What a run of it would be refused for now is the
// error.
func (d *dialect) startable(ctx context.Context, view agents.View, named, thread string, body RunBody) (assistant, error) {
	as, req, err := d.runOf(ctx, named, thread, body)
	if err == nil {
		err = view.Check(req)
	}
	return as, err
}

// starter starts the runs of crons.
type starter struct{ *dialect }

// Starter is what starts the runs of crons on a server's runtime.
func Starter(s *rest.Server) cron.Starter { return starter{&dialect{s}} }

// StartCron implements [cron.Starter].
func (s starter) StartCron(ctx context.Context, p policy.Principal, c cron.Cron) (run, thread string, err error) {
	var body RunBody
	if err := json.Unmarshal(c.Payload, &body); err != nil {
		return "", "", fmt.Errorf("reading what the cron's runs are started with: %w", err)
	}
	ctx = policy.WithPrincipal(ctx, p)
	body.Metadata = maps.Clone(c.Metadata)
	if body.Metadata == nil {
		body.Metadata = map[string]any{}
	}
	body.Metadata["cron_id"] = c.ID
	_, req, err := s.runOf(ctx, c.Assistant, c.Thread, body)
	if err != nil {
		return "", "", err
	}
	if c.Thread == "" {
		req.KeepThread, req.DeleteThread = c.Keep, !c.Keep
	}
	h, err := s.Runtime.As(p).Start(ctx, req)
	if err != nil {
		return "", "", err
	}
	return h.ID, h.Thread, nil
}
