package webhook

import (
	"context"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/post"
)

// Config says where messages go. URL and Secret are required.
type Config struct {
	URL     string
	Secret  string // signs each message
	Private bool   // loopback and private addresses are allowed
	Log     *zap.Logger
	Pause   time.Duration // before the second attempt; default one second
}

// Webhook sends messages. Make it with [New].
type Webhook struct {
	url    string
	sender *post.Sender
}

var _ approval.Notifier = (*Webhook)(nil)

// message is what the server is sent.
type message struct {
	Type string        `json:"type"` // approval.requested or approval.decided
	Time time.Time     `json:"timestamp"`
	Data approval.View `json:"data"`
}

// New returns a webhook that is ready.
func New(c Config) *Webhook {
	return &Webhook{c.URL, post.New(post.Config{
		Name: "the webhook of approvals", Secret: c.Secret, Log: c.Log, Pause: c.Pause,
		Check: func(a netip.Addr) error { return check(a, c.Private) },
	})}
}

// Requested implements [approval.Notifier].
func (w *Webhook) Requested(_ context.Context, v approval.View) { w.add("approval.requested", v) }

// Decided implements [approval.Notifier].
func (w *Webhook) Decided(_ context.Context, v approval.View) { w.add("approval.decided", v) }

func (w *Webhook) add(typ string, v approval.View) {
	w.sender.Send(post.Message{URL: w.url, Type: typ, About: v.ID, Body: message{typ, time.Now().UTC(), v}})
}

// Close ends the sending. What is queued is dropped.
func (w *Webhook) Close() { w.sender.Close() }
