package main

import (
	"bufio"
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
thread. Exit codes: 0 for success, 1 for an error, 3 if a tool call was denied, 130 after Ctrl-C.`
	c := new(chat)
	f := cmd.Flags()
	f.StringVar(&c.agent, "agent", "", "agent to ask (default svc-orchestrator, which delegates)")
	f.StringVar(&c.thread, "thread", "", "thread to continue")
	f.BoolVar(&c.json, "json", false, "print the events as they arrive, one JSON object on each line")
	address := urlFlag(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
		defer stop()
		var err error
		c.out, c.told = cmd.OutOrStdout(), cmd.ErrOrStderr()
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
		if c.target, err = findTarget(ctx, *address); err != nil {
			return err
		}
		if interactive {
			return c.talk(ctx, cmd.InOrStdin())
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
	target        target
	agent, thread string
	out, told     io.Writer // the answer; everything else
	json          bool      // events to out, nothing else
}

// talk asks for prompts until the input ends.
func (c *chat) talk(ctx context.Context, in io.Reader) error {
	lines := make(chan string)
	go func() { // ends with the input or the program: a read of a terminal cannot be cancelled
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
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
			if strings.TrimSpace(line) == "" {
				continue
			}
			if err := c.turn(ctx, line); err != nil {
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
}

// ask sends one prompt and prints what comes back.
func (c *chat) ask(ctx context.Context, prompt string) error {
	req := runRequest{AssistantID: c.agent}
	req.Input.Messages = []message{{Role: "user", Content: prompt}}
	path := "/runs/stream"
	if c.thread != "" {
		path = "/threads/" + url.PathEscape(c.thread) + path
	}
	resp, err := c.target.send(ctx, http.MethodPost, path, req)
	if err != nil {
		return cancelled(ctx, err)
	}
	defer resp.Body.Close()
	s := stream{out: c.out, told: c.told, raw: io.Discard}
	if c.json {
		s = stream{out: io.Discard, told: io.Discard, raw: c.out}
	}
	err = s.copy(resp.Body)
	if ctx.Err() != nil {
		c.cancel(resp.Header.Get("Content-Location"))
	}
	return cancelled(ctx, err)
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
	if resp, err := c.target.send(ctx, http.MethodPost, run+"/cancel", nil); err == nil {
		_ = resp.Body.Close()
	}
}
