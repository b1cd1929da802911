package langgraph

import (
	"context"
	"errors"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/tree"
)

// resolves reports whether the request asks for the end of what waits: the node __end__ comes next, and
// nothing else is asked for. Chat UIs call it "mark as resolved".
func (b *RunBody) resolves() bool {
	c := b.Command
	if c == nil || !isNull(c.Resume) || !isNull(c.Update) || isNull(c.Goto) {
		return false
	}
	next, ok := oneOrSeveral(c.Goto)
	return ok && len(next) == 1 && next[0] == tree.NodeEnd
}

// resolve ends the run of a thread that waits. Its calls that wait are not made.
func (d *dialect) resolve(ctx context.Context, r *http.Request, thread string, body *RunBody, modes []mode) (begun, error) {
	if thread == "" {
		return begun{}, rest.Invalid("command.goto: needs a thread; POST /threads/{thread_id}/runs/… names one")
	}
	view := d.View(r)
	now, err := view.State(ctx, thread, "")
	if err != nil {
		return begun{}, err
	}
	if len(now.Interrupts) == 0 {
		return begun{}, rest.Invalid("command.goto: __end__ ends a run that waits, and none of this thread's does")
	}
	run, err := view.Run(ctx, thread, now.Interrupts[0].Run)
	if err != nil {
		return begun{}, err
	}
	b, err := d.replay(ctx, run, body, modes)
	if err != nil {
		return begun{}, err
	}
	if err := run.Cancel(ctx); err != nil && !errors.Is(err, agents.ErrOver) {
		return begun{}, err
	}
	b.t.resolved = true
	return b, nil
}
