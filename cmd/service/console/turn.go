package console

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/internal/markdown"
)

// maxBatch is how many events are shown at once.
const maxBatch = 256

// turn is a run that is under way, from the prompt to the event done.
type turn struct {
	news chan news // of who follows; closed after the last
	stop context.CancelFunc
	run  atomic.Value // its path, when it is known

	began      time.Time
	cancelling bool // the person wants no more of it
	denied     bool
	failed     string
	answer     markdown.Stream
	calls      []call // that are being made
	plan       []todo.Item
	tokens     int64
	estimated  bool
	waits      string // for whom it waits; empty: nobody
}

// call is one that is being made.
type call struct {
	id, text string
	began    time.Time
}

// news is an event, or what became of the connection.
type news struct {
	event  *ask.Event
	thread string // it was made for this run
	told   string
	err    error // the last one
}

// newsMsg are the news of a turn; over says that no more come.
type newsMsg struct {
	turn *turn
	all  []news
	over bool
}

// begin starts a run.
func (p *program) begin(prompt string) tea.Cmd {
	ctx, stop := context.WithCancel(p.ctx)
	t := &turn{news: make(chan news, maxBatch), stop: stop, began: time.Now()}
	p.turn = t
	req := ask.Prompt(prompt)
	req.AssistantID, req.AutoApprove = p.Agent, p.AutoApprove
	go func() {
		defer close(t.news)
		if err := t.follow(ctx, p.Client, p.Thread, req); err != nil {
			t.tell(ctx, news{err: err})
		}
	}()
	return tea.Batch(t.next(), p.tick())
}

// follow reads the run's events to their end, over several connections when one breaks.
func (t *turn) follow(ctx context.Context, c ask.Client, thread string, req ask.Run) error {
	if thread == "" {
		var err error
		if thread, err = c.NewThread(ctx); err != nil {
			return err
		}
		t.tell(ctx, news{thread: thread})
	}
	s, err := c.Start(ctx, thread, req)
	if err != nil {
		return err
	}
	t.run.Store(s.Run)
	for {
		err := s.Events(func(e ask.Event) bool { return t.tell(ctx, news{event: &e}) })
		if !errors.Is(err, ask.ErrBroken) || ctx.Err() != nil {
			return err
		}
		t.tell(ctx, news{told: "The connection is lost; the run goes on. Joining it again …"})
		if err := s.Rejoin(ctx); err != nil {
			return err
		}
	}
}

func (t *turn) tell(ctx context.Context, n news) bool {
	select {
	case t.news <- n:
		return true
	case <-ctx.Done():
		return false
	}
}

// next waits for news, and takes all that there are.
func (t *turn) next() tea.Cmd {
	return func() tea.Msg {
		m := newsMsg{turn: t}
		n, ok := <-t.news
		for ok && len(m.all) < maxBatch {
			m.all = append(m.all, n)
			select {
			case n, ok = <-t.news:
			default:
				return m
			}
		}
		if ok {
			m.all = append(m.all, n)
		}
		m.over = !ok
		return m
	}
}

// path is that of the run; empty as long as the service has not said it.
func (t *turn) path() string {
	path, _ := t.run.Load().(string)
	return path
}

// cancelRun ends the run that is under way.
func (p *program) cancelRun() tea.Cmd {
	t := p.turn
	t.cancelling = true
	path := t.path()
	if path == "" {
		t.stop()
		return nil
	}
	return func() tea.Msg {
		ctx, stop := context.WithTimeout(p.ctx, 10*time.Second)
		defer stop()
		if err := p.Client.Cancel(ctx, path); err != nil {
			return toldMsg{fmt.Sprintf("The run was not cancelled: %v", err)}
		}
		return nil
	}
}
