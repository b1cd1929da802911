package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
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

Without PROMPT the command reads stdin. On a terminal it asks for one prompt after another, in one
thread. When a call needs approval and you may give it, the command shows the call and asks [y/N];
anything but y, the end of the input and no answer in time mean no. Otherwise it waits for an admin.
Exit codes: 0 for success, 1 for an error, 3 if a tool call was denied, rejected or not approved in
time, 130 after Ctrl-C.`
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
		if interactive {
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
		var created struct {
			ThreadID string `json:"thread_id"`
		}
		if err := c.call(ctx, "/threads", struct{}{}, &created); err != nil {
			return err
		}
		c.thread = created.ThreadID
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

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type runRequest struct {
	Input struct {
		Messages []message `json:"messages"`
	} `json:"input"`
	AssistantID string `json:"assistant_id,omitempty"`
	AutoApprove bool   `json:"auto_approve,omitempty"`
}

// ask sends one prompt and prints what comes back.
func (c *chat) ask(ctx context.Context, prompt string) error {
	req := runRequest{AssistantID: c.agent, AutoApprove: c.auto}
	req.Input.Messages = []message{{Role: "user", Content: prompt}}
	path := "/runs/stream"
	if c.thread != "" {
		path = "/threads/" + url.PathEscape(c.thread) + path
	}
	resp, err := c.target.Send(ctx, http.MethodPost, path+"?resumable=1", req)
	if err != nil {
		return cancelled(ctx, err)
	}
	run := resp.Header.Get("Content-Location")
	told := &locked{w: c.told} // two write to it
	s := stream{out: c.out, told: told, raw: io.Discard}
	if c.json {
		s = stream{out: io.Discard, told: io.Discard, raw: c.out}
	} else {
		s.desk = newDesk(ctx, c.target, told, c.keys)
		defer s.desk.close()
		s.out, s.told = s.desk.curtain.behind(c.out), s.desk.curtain.behind(told)
	}
	err = s.copy(resp.Body)
	resp.Body.Close()
	for errors.Is(err, errBroken) && s.desk != nil && s.desk.pending() && ctx.Err() == nil {
		if resp, err = c.rejoin(ctx, run, s.last); err != nil {
			break
		}
		err = s.copy(resp.Body)
		resp.Body.Close()
	}
	if ctx.Err() != nil {
		c.cancel(run)
	}
	return cancelled(ctx, err)
}

const (
	rejoinEvery = 500 * time.Millisecond
	rejoinFor   = 2 * time.Minute
)

// rejoin waits for the service to come back and joins a run that waits again, after the last event. The
// run does not need us: it waits in the store.
func (c *chat) rejoin(ctx context.Context, run, last string) (*http.Response, error) {
	thread, _, ok := strings.Cut(run, "/runs/")
	if !ok {
		return nil, errBroken
	}
	fmt.Fprintln(c.told, "\nThe connection is lost; the run goes on waiting. Joining it again …")
	enough := time.NewTimer(rejoinFor)
	defer enough.Stop()
	for {
		resp, err := c.target.Join(ctx, thread+"/runs/stream", last)
		if err == nil {
			return resp, nil
		}
		if p, ok := errors.AsType[problem.Problem](err); ok && p.Status < http.StatusInternalServerError {
			return nil, err
		}
		select {
		case <-time.After(rejoinEvery):
		case <-enough.C:
			return nil, errBroken
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func cancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cli.Exit(cli.ExitCancelled)
	}
	return err
}

// cancel ends the run that nobody reads any more. The service may be the reason why, so an
// error is not told.
func (c *chat) cancel(run string) {
	if !strings.HasPrefix(run, "/") {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	if resp, err := c.target.Send(ctx, http.MethodPost, run+"/cancel", nil); err == nil {
		_ = resp.Body.Close()
	}
}
