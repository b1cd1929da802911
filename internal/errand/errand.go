// Package errand has one process ask another one to do something, over the bus.
//
//	calls := errand.Listen(bus, node)
//	go errand.Serve(ctx, bus, calls, log, errand.Handler{Do: do, Missed: look})
//	reply, err := errand.Ask(ctx, bus, other, errand.Errand{Do: "cancel", Run: id}, stays)
//
// An errand may be lost and is sent again until there is a reply, so that doing it twice must change nothing.
// All functions may be used by many goroutines.
package errand

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
)

// again is how long a reply is waited for before an errand is sent once more.
const again = 500 * time.Millisecond

// Errand is what one process asks of another.
type Errand struct {
	Do    string `json:"do"`
	Run   string `json:"run"`   // what it is about
	Reply string `json:"reply"` // topic for the answer; Ask sets it
}

func topic(node string) string { return "node." + node }

// Ask asks a node, and waits for its reply. Each time that none comes, stays is asked whether the node is
// still the one to ask; when it is not, the reply is empty.
func Ask(ctx context.Context, b bus.Bus, node string, e Errand, stays func(context.Context) bool) (reply string, err error) {
	e.Reply = "reply." + uuid.NewString()
	message, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encoding an errand: %w", err)
	}
	replies := b.Subscribe(e.Reply)
	defer replies.Close()
	for {
		if err := b.Publish(ctx, topic(node), message); err != nil {
			return "", fmt.Errorf("asking another process: %w", err)
		}
		select {
		case reply := <-replies.C():
			if reply != nil { // else the answer may have been missed
				return string(reply), nil
			}
		case <-time.After(again):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if !stays(ctx) {
			return "", nil
		}
	}
}

// Listen is where the errands for a node come.
func Listen(b bus.Bus, node string) *bus.Subscription { return b.Subscribe(topic(node)) }

// Handler does errands.
type Handler struct {
	Do     func(Errand) (reply string)
	Missed func() // the bus was away: some errands may not have come, and leases may be forgotten
}

// Serve does the errands that come, until ctx ends, and closes calls.
func Serve(ctx context.Context, b bus.Bus, calls *bus.Subscription, log *zap.Logger, h Handler) {
	defer calls.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-calls.C():
			if message == nil {
				h.Missed()
				continue
			}
			var e Errand
			if err := json.Unmarshal(message, &e); err != nil {
				log.Warn("what another process asks for cannot be read", zap.Error(err))
				continue
			}
			if err := b.Publish(ctx, e.Reply, []byte(h.Do(e))); err != nil {
				log.Debug("answering another process failed, it will ask again", zap.Error(err))
			}
		}
	}
}
