package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/policy"
)

// desk asks the person at the terminal about calls that wait, one after the other.
type desk struct {
	client ask.Client
	whoami func(context.Context) (policy.Principal, error)
	told   io.Writer
	keys   keyboard

	curtain curtain // before what the stream tells, while a question is open

	once  sync.Once
	admin bool // whether who runs the command may decide
	queue chan ask.Event
	done  sync.WaitGroup
	stop  context.CancelFunc

	mu   sync.Mutex
	open map[string]chan struct{} // calls that wait, by id; closed when somebody has decided
}

// newDesk starts asking; close ends it.
func newDesk(ctx context.Context, t cli.Target, told io.Writer, keys keyboard) *desk {
	d := &desk{client: ask.Client{Service: t}, whoami: t.Whoami, told: told, keys: keys, queue: make(chan ask.Event, 1024), open: map[string]chan struct{}{}}
	ctx, d.stop = context.WithCancel(ctx)
	d.done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-d.queue:
				d.ask(ctx, e)
			}
		}
	})
	return d
}

func (d *desk) close() {
	d.stop()
	d.done.Wait()
}

// waits takes note of a call that waits.
func (d *desk) waits(e ask.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.open[e.ID]; known { // the stream was joined again
		return
	}
	d.open[e.ID] = make(chan struct{})
	select {
	case d.queue <- e:
	default: // nobody answers a thousand questions; they wait all the same
	}
}

// decided takes note of a decision, by whomever.
func (d *desk) decided(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.open[id]; ok {
		delete(d.open, id)
		close(c)
	}
}

// pending reports whether a call waits.
func (d *desk) pending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open) > 0
}

func (d *desk) news(id string) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.open[id]; ok {
		return c
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}

// ask shows a call and asks for a decision, where the person may decide. Anything but y is no; so are
// the end of the input, and no answer in time.
func (d *desk) ask(ctx context.Context, e ask.Event) {
	news := d.news(e.ID)
	select {
	case <-news:
		return
	default:
	}
	d.once.Do(func() {
		p, err := d.whoami(ctx)
		d.admin = err == nil && p.Role.May(policy.ApproveWrite)
	})
	d.curtain.draw()
	defer d.curtain.raise()
	fmt.Fprintf(d.told, "Approval needed: %s\n  %s %s\n", ask.Reveal(e.Reason), ask.Reveal(e.Tool), ask.Reveal(plain(e.Input)))
	printDiff(d.told, e.Input)
	if e.Where != "" {
		fmt.Fprintf(d.told, "  runs %s\n", ask.Reveal(e.Where))
	}
	if e.Approvers > 1 {
		fmt.Fprintf(d.told, "  %d different people have to approve it\n", e.Approvers)
	}
	if !d.admin || e.OtherPerson {
		who := "an admin"
		if d.admin {
			who = "another admin"
		}
		fmt.Fprintf(d.told, "Waiting for %s%s: service approvals approve %s\n", who, until(e.ExpiresAt), e.ID)
		return
	}
	since := d.keys.forget() // a y that was typed before is no answer to this
	fmt.Fprint(d.told, "Make this call? [y/N] ")
	var late <-chan time.Time
	if e.ExpiresAt != nil {
		timer := time.NewTimer(time.Until(*e.ExpiresAt))
		defer timer.Stop()
		late = timer.C
	}
	verdict := approval.Reject
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return
		case <-news:
			fmt.Fprintln(d.told)
			return
		case <-late:
			waiting = false
			fmt.Fprintln(d.told, "\nno answer in time: no")
		case line, ok := <-d.keys.lines():
			if !ok {
				fmt.Fprintln(d.told, "\nno answer: no")
			} else if line.at.Before(since) {
				continue
			}
			waiting = false
			if answer := strings.ToLower(strings.TrimSpace(line.text)); answer == "y" || answer == "yes" {
				verdict = approval.Approve
			}
		}
	}
	v, err := d.client.Decide(ctx, e.ID, ask.Decision{Decision: verdict, Digest: e.Digest})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		fmt.Fprintf(d.told, "This was not decided: %v\nDecide with service approvals approve|reject %s\n", err, e.ID)
	case v.State == string(approval.Pending):
		fmt.Fprintf(d.told, "%d of %d have approved it\n", len(v.Votes), v.Approvers)
	}
}

// until says when waiting ends.
func until(t *time.Time) string {
	if t == nil {
		return ""
	}
	return ", until " + t.Local().Format(time.TimeOnly)
}

// locked is a writer that several goroutines may use.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
