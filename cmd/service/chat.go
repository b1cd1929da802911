package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/cmd/service/console"
	"github.com/svc-gateway/svc/internal/problem"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "chat", Short: "Asks the agents and prints the answer as it arrives", CobraFunc: chatCommand,
	})
}

// maxPrompt is more than any limits.body_bytes that makes sense for a question.
const maxPrompt = 64 << 20

func chatCommand(cmd *cobra.Command) {
	cmd.Use = "chat [PROMPT]"
	cmd.Long = `Asks the agents and prints the answer as it arrives. Tool calls are printed on stderr.

Without PROMPT the command reads stdin. On a terminal it is a conversation in one thread, with answers
as they arrive, plans and questions about calls; /help lists its commands. With PROMPT, or when stdin or
stdout is no terminal, it prints plain text. When a call needs approval and you may give it, the command shows the call and asks [y/N];
anything but y, the end of the input and no answer in time mean no. Otherwise it waits for an admin.
Exit codes: 0 for success, 1 for an error, 3 if a tool call was denied, rejected or not approved in
time, 130 after Ctrl-C. In a conversation Ctrl-C cancels the run, and a second one leaves.`
	c := new(chat)
	f := cmd.Flags()
	f.StringVar(&c.agent, "agent", "", "agent to ask (default svc-orchestrator, which delegates)")
	f.StringVar(&c.thread, "thread", "", "thread to continue")
	f.BoolVar(&c.json, "json", false, "print the events as they arrive, one JSON object on each line, and ask nothing")
	f.BoolVar(&c.auto, "auto-approve", false, "make dangerous calls without asking, where only rules of the program ask for approval; needs the role admin, for tests only")
	address := cli.URLFlag(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
		defer stop()
		var err error
		c.out, c.told = cmd.OutOrStdout(), cmd.ErrOrStderr()
		c.keys = newKeyboard(cmd.InOrStdin())
		prompt := strings.Join(args, " ")
		interactive := len(args) == 0 && isTerminal(cmd.InOrStdin())
		if len(args) == 0 && !interactive {
			if prompt, err = readPrompt(cmd.InOrStdin()); err != nil {
				return err
			}
		}
		if !interactive && strings.TrimSpace(prompt) == "" {
			return cli.Usagef("the prompt is empty: give it as an argument or on stdin")
		}
		if c.target, err = commands.FindTarget(ctx, *address); err != nil {
			return err
		}
		in, out, env := os.Stdin, os.Stdout, os.Environ()
		switch {
		case interactive && !c.json && cmd.InOrStdin() == in && cmd.OutOrStdout() == out && isTerminal(out) && console.Fits(env):
			return c.converse(cmd.Context(), in, out, env)
		case interactive:
			return c.talk(ctx)
		}
		return c.ask(ctx, prompt)
	})
	cli.Group(cmd)
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func readPrompt(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPrompt))
	if err != nil {
		return "", fmt.Errorf("reading the prompt: %w", err)
	}
	return string(text), nil
}

// chat is a conversation with the agents.
type chat struct {
	target        cli.Target
	agent, thread string
	out, told     io.Writer // the answer; everything else
	keys          keyboard
	json          bool // events to out, nothing else
	auto          bool // no approvals, as far as that is allowed
}

// converse is the conversation at a terminal that can show it.
func (c *chat) converse(ctx context.Context, in, out *os.File, env []string) error {
	user, err := c.target.Whoami(ctx)
	if err != nil {
		return err
	}
	err = console.Run(ctx, console.Config{
		Client: c.client(), User: user, Agent: c.agent, Thread: c.thread, AutoApprove: c.auto, In: in, Out: out, Env: env,
	})
	switch {
	case errors.Is(err, console.ErrCancelled):
		return cli.Exit(cli.ExitCancelled)
	case errors.Is(err, console.ErrTerminated):
		return cli.Exit(cli.ExitTerminated)
	}
	return err
}

// talk asks for prompts until the input ends.
func (c *chat) talk(ctx context.Context) error {
	lines := c.keys.lines()
	for {
		fmt.Fprint(c.told, "> ")
		select {
		case <-ctx.Done():
			fmt.Fprintln(c.told)
			return cli.Exit(cli.ExitCancelled)
		case line, ok := <-lines:
			if !ok {
				fmt.Fprintln(c.told)
				return nil
			}
			if strings.TrimSpace(line.text) == "" {
				continue
			}
			if err := c.turn(ctx, line.text); err != nil {
				return err
			}
		}
	}
}

// turn is one prompt of a conversation: what goes wrong is told and does not end it, unless
// there is nobody to talk to.
func (c *chat) turn(ctx context.Context, prompt string) error {
	if c.thread == "" {
		var err error
		if c.thread, err = c.client().NewThread(ctx); err != nil {
			return cancelled(ctx, err)
		}
	}
	err := c.ask(ctx, prompt)
	coded, isCoded := errors.AsType[*cli.CodedError](err)
	switch {
	case isCoded && coded.Code == cli.ExitCancelled:
		return err
	case err != nil && !isCoded:
		fmt.Fprintln(c.told, "Error:", err)
	}
	return nil
}

// ask sends one prompt and prints what comes back.
func (c *chat) ask(ctx context.Context, prompt string) error {
	req := ask.Prompt(prompt)
	req.AssistantID, req.AutoApprove = c.agent, c.auto
	run, err := c.client().Start(ctx, c.thread, req)
	if err != nil {
		return cancelled(ctx, c.explain(ctx, err))
	}
	defer run.Close()
	told := &locked{w: c.told} // two write to it
	s := stream{out: c.out, told: told, raw: io.Discard}
	if c.json {
		s = stream{out: io.Discard, told: io.Discard, raw: c.out}
	} else {
		s.desk = newDesk(ctx, c.target, told, c.keys)
		defer s.desk.close()
		s.out, s.told = s.desk.curtain.behind(c.out), s.desk.curtain.behind(told)
	}
	err = s.copy(run)
	for errors.Is(err, ask.ErrBroken) && s.desk != nil && s.desk.pending() && ctx.Err() == nil {
		fmt.Fprintln(c.told, "\nThe connection is lost; the run goes on waiting. Joining it again …")
		if err = run.Rejoin(ctx); err == nil {
			err = s.copy(run)
		}
	}
	if ctx.Err() != nil {
		c.cancel(run.Run)
	}
	return cancelled(ctx, err)
}

// explain names what a run was refused for, where it is the agent or the thread.
func (c *chat) explain(ctx context.Context, err error) error {
	var known error
	switch {
	case problem.HasCode(err, "assistant_not_found"):
		known = c.client().FindAgent(ctx, c.agent)
	case problem.HasCode(err, "thread_not_found"), problem.HasCode(err, "invalid_thread_id"):
		known = c.client().FindThread(ctx, c.thread)
	}
	if known != nil {
		return known
	}
	return err
}

func (c *chat) client() ask.Client { return ask.Client{Service: c.target} }

func cancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitCancelled)
	}
	return err
}

// cancel ends the run that nobody reads any more. The service may be the reason why, so an
// error is not told.
func (c *chat) cancel(run string) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	_ = c.client().Cancel(ctx, run)
}
