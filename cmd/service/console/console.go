// Package console is the conversation with the agents at a terminal.
//
//	err := console.Run(ctx, console.Config{Client: client, User: principal, In: os.Stdin, Out: os.Stdout, Env: os.Environ()})
//
// It reads prompts and commands (/help lists them), shows answers as they arrive, and asks about calls that
// wait for approval. What was said stays in the terminal's scrollback; only the last lines are drawn anew.
//
// What it guarantees: nothing that comes from the service drives the terminal. A call is approved by a key
// that was pressed on its own after the whole call was shown; pasted text, text that was typed ahead and
// keys in quick succession are no answers. Nothing is printed while a question is open. However the program
// ends, but for SIGKILL, the terminal is as it was before.
//
// All state belongs to one goroutine, that of [tea.Program]; the events of a run come to it through a channel.
package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/policy"
)

// How a conversation ends, when not with /quit or Ctrl-D.
var (
	ErrCancelled  = errors.New("cancelled")
	ErrTerminated = errors.New("terminated")
)

// Config is what a conversation needs.
type Config struct {
	Client      ask.Client
	User        policy.Principal // who talks
	Agent       string           // whom to ask; empty: the service's choice
	Thread      string           // to continue; empty: a new one
	AutoApprove bool
	In, Out     *os.File // the terminal
	Env         []string
}

// Fits reports whether a terminal can show a conversation, by its environment.
func Fits(env []string) bool {
	terminal := variable(env, "TERM")
	return terminal != "" && terminal != "dumb"
}

// Run talks until the person leaves or ctx ends.
func Run(ctx context.Context, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newProgram(ctx, c)
	if err := p.check(); err != nil {
		return err
	}
	if err := p.greet(); err != nil {
		return err
	}
	program := tea.NewProgram(p, tea.WithInput(c.In), tea.WithOutput(c.Out), tea.WithEnvironment(c.Env))
	defer context.AfterFunc(ctx, program.Quit)()
	_, err := program.Run()
	if p.turn != nil {
		p.abandon()
	}
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return ErrCancelled
	case err != nil:
		return err
	case !p.left:
		return ErrTerminated
	}
	if _, err := fmt.Fprintln(c.Out, p.farewell()); err != nil {
		return err
	}
	return p.end
}

// abandon cancels the run that nobody follows any more, and waits for who did.
func (p *program) abandon() {
	if !p.turn.cancelling {
		ctx, stop := context.WithTimeout(context.WithoutCancel(p.ctx), 2*time.Second)
		defer stop()
		_ = p.Client.Cancel(ctx, p.turn.path()) // the service may be the reason why
	}
	p.turn.stop()
	for range p.turn.news { // until it has ended
	}
}

// variable is the value of an environment variable.
func variable(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
