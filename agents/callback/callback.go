// Package callback tells servers that users have named of the ends of their runs.
//
// [New] returns the [agents.Callbacks] of a setup. An administrator lists the servers; a request that
// names another one is refused before its run starts. [Callbacks.Close] ends the sending.
//
// # Guarantees
//
// Messages are sent as package post sends them. What is not public is reached only if an administrator
// has listed its address too, looked at when the connection is made, so that a name that leads elsewhere a
// moment later changes nothing. What is sent holds no credential.
//
// # Concurrency
//
// Callbacks are safe for concurrent use.
package callback

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/post"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Config says where messages may go and what they say. Hosts, Body, Secret and Log are required.
type Config struct {
	Hosts    reach.Hosts
	Networks []netip.Prefix          // that are not public, and may be reached nevertheless
	Body     func(agents.RunEnd) any // what a server is sent, as JSON
	Secret   string                  // signs each message
	Log      *zap.Logger
	Pause    time.Duration // before the second attempt; default one second
}

// Callbacks sends messages. Make it with [New].
type Callbacks struct {
	hosts  reach.Hosts
	body   func(agents.RunEnd) any
	sender *post.Sender
}

var _ agents.Callbacks = (*Callbacks)(nil)

// New returns callbacks that are ready.
func New(c Config) *Callbacks {
	rule := reach.Rule{Networks: c.Networks, Local: true}
	return &Callbacks{c.Hosts, c.Body, post.New(post.Config{Name: "the webhook of a run", Secret: c.Secret, Check: rule.Check, Log: c.Log, Pause: c.Pause})}
}

// Allowed implements [agents.Callbacks].
func (c *Callbacks) Allowed(text string) error {
	if redact.Text(text) != text {
		return errors.New("the URL holds a credential, which would be kept with the run")
	}
	u, err := reach.ParseURL(text)
	if err != nil {
		return fmt.Errorf("reading the URL: %w", err)
	}
	return c.hosts.Check(u)
}

// RunEnded implements [agents.Callbacks].
func (c *Callbacks) RunEnded(url string, end agents.RunEnd) {
	c.sender.Send(post.Message{URL: url, Type: "run.ended", About: end.Run.ID, Body: c.body(end)})
}

// Close ends the sending. What is queued is dropped.
func (c *Callbacks) Close() { c.sender.Close() }
