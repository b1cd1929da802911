package agents

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/approval/webhook"
	"github.com/svc-gateway/svc/agents/callback"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/settings"
)

// newDesk is what the settings make of approvals.
func (h *Handler) newDesk(a *app.App, opened *host, log *zap.Logger) (approval.Config, error) {
	s := a.Settings().Approvals
	c := approval.Config{TTL: s.TTL, Auto: s.Auto, Secrets: a.Secrets(), Notify: []approval.Notifier{approvalHooks{opened.hooks}, opened.tasks}}
	if s.WebhookURL != "" {
		secret, err := reveal("approvals.webhook_secret", s.WebhookSecret)
		if err != nil {
			return c, err
		}
		h.webhook = webhook.New(webhook.Config{URL: s.WebhookURL, Secret: secret, Private: s.WebhookPrivate, Log: log})
		c.Notify = append(c.Notify, h.webhook)
	}
	return c, nil
}

// newCallbacks tells servers of the ends of runs; nil when none may be told.
func newCallbacks(s settings.Webhooks, log *zap.Logger) (*callback.Callbacks, error) {
	if len(s.Hosts) == 0 {
		return nil, nil
	}
	c := callback.Config{Body: api.RunEnded, Log: log}
	var err error
	if c.Hosts, err = reach.ParseHosts(s.Hosts); err != nil {
		return nil, fmt.Errorf("webhooks.hosts: %w", err)
	}
	for _, text := range s.Reach {
		n, err := reach.ParseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("webhooks.reach: %w", err)
		}
		c.Networks = append(c.Networks, n)
	}
	if c.Secret, err = reveal("webhooks.secret", s.Secret); err != nil {
		return nil, err
	}
	return callback.New(c), nil
}
