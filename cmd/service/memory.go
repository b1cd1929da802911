package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/api/spec"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "memory", Short: "Lists, exports and forgets what agents know from earlier conversations",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "memory"
			cmd.Long = `Lists, exports and forgets what agents know from earlier conversations. Users see and forget what is known
of them; admins everything.`
			cli.Group(cmd, memoryListCommand(), memoryForgetCommand(), memoryExportCommand())
		},
	})
}

// memoryPage is how many memories are asked for at once, and maxMemories the most that an answer with them has.
const (
	memoryPage  = 1000
	maxMemories = 16 << 20 // bytes
)

// memoryFlags are those that select memories.
func memoryFlags(cmd *cobra.Command) func() (url.Values, error) {
	user := cmd.Flags().String("user", "", "only those of this user")
	agent := cmd.Flags().String("agent", "", "only those that this agent alone knows")
	category := cmd.Flags().String("category", "", "only those of this category: fact, decision, preference or audit")
	return func() (url.Values, error) {
		if c := memory.Category(*category); c != "" && !slices.Contains(memory.Categories(), c) {
			return nil, cli.Usagef("--category: %q is none; use fact, decision, preference or audit", *category)
		}
		q := url.Values{}
		for name, value := range map[string]string{"user_id": *user, "agent": *agent, "category": *category} {
			if value != "" {
				q.Set(name, value)
			}
		}
		return q, nil
	}
}

func memoryListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "Lists memories, the newest first", Args: cli.Args(cobra.NoArgs)}
	address, asJSON := cli.URLFlag(cmd), cmd.Flags().Bool("json", false, "print JSON")
	selected := memoryFlags(cmd)
	limit := cmd.Flags().Int("limit", 100, "how many at most, 1 to 1000")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		if *limit < 1 || *limit > memoryPage {
			return cli.Usagef("--limit: %d is not a number from 1 to %d", *limit, memoryPage)
		}
		q, err := selected()
		if err != nil {
			return err
		}
		t, err := commands.FindTarget(cmd.Context(), *address)
		if err != nil {
			return err
		}
		list, err := memories(cmd.Context(), t, q, *limit)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), list)
		}
		rows := make([][]string, len(list))
		for i, m := range list {
			rows[i] = []string{m.ID, m.UserID, m.Agent, m.Category, ask.Reveal(m.Text), ask.Reveal(strings.Join(m.Labels, " ")), m.UpdatedAt.Local().Format(time.DateTime)}
		}
		return cli.Table(cmd.OutOrStdout(), []string{"id", "user", "agent", "category", "text", "sources", "learned"}, rows)
	})
	return cmd
}

// memories are a page of memories.
func memories(ctx context.Context, t cli.Target, q url.Values, limit int) (list []spec.MemoryView, err error) {
	q.Set("limit", fmt.Sprint(limit))
	resp, err := t.Send(ctx, http.MethodGet, "/memories?"+q.Encode(), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMemories)).Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the service's answer: %w", err)
	}
	return list, nil
}

func memoryForgetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "forget [ID…]", Short: "Forgets memories for good",
		Example: `  service memory forget mem_0190f5a47c3e7b1a9f6e2d4c8a1b3e5f
  service memory forget --all
  service memory forget --all --user ada`,
	}
	address := cli.URLFlag(cmd)
	all := cmd.Flags().Bool("all", false, "all that is known of you, or with --user of somebody else")
	user := cmd.Flags().String("user", "", "with --all: of whom, for admins")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, ids []string) error {
		switch {
		case *all == (len(ids) > 0):
			return cli.Usagef("name memories by their ids, or give --all; service memory list lists them")
		case *user != "" && !*all:
			return cli.Usagef("--user: belongs to --all; an id says whose the memory is")
		}
		t, err := commands.FindTarget(cmd.Context(), *address)
		if err != nil {
			return err
		}
		n := len(ids)
		if *all {
			n, err = forgetAll(cmd.Context(), t, *user)
		} else {
			err = forgetEach(cmd.Context(), t, ids)
		}
		if err != nil {
			return err
		}
		word := "memories"
		if n == 1 {
			word = "memory"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Forgot %d %s.\n", n, word)
		return nil
	})
	return cmd
}

func forgetAll(ctx context.Context, t cli.Target, user string) (n int, err error) {
	path := "/memories"
	if user != "" {
		path += "?" + url.Values{"user_id": {user}}.Encode()
	}
	resp, err := t.Send(ctx, http.MethodDelete, path, nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var done spec.Forgotten
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxMemories)).Decode(&done); err != nil {
		return 0, fmt.Errorf("reading the service's answer: %w", err)
	}
	return done.Memories, nil
}

// forgetEach forgets memories one by one, also the others when one is not there.
func forgetEach(ctx context.Context, t cli.Target, ids []string) error {
	var errs []error
	for _, id := range ids {
		resp, err := t.Send(ctx, http.MethodDelete, "/memories/"+url.PathEscape(id), nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
			continue
		}
		errs = append(errs, resp.Body.Close())
	}
	return errors.Join(errs...)
}

func memoryExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export [FILE]", Short: "Writes memories as JSON, one a line", Args: cli.Args(cobra.MaximumNArgs(1)),
		Example: `  service memory export > known.jsonl
  service memory export --user ada ada.jsonl`,
	}
	address := cli.URLFlag(cmd)
	selected := memoryFlags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		q, err := selected()
		if err != nil {
			return err
		}
		t, err := commands.FindTarget(cmd.Context(), *address)
		if err != nil {
			return err
		}
		if len(args) == 0 || args[0] == "-" {
			return exportMemories(cmd.Context(), t, q, cmd.OutOrStdout())
		}
		f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(exportMemories(cmd.Context(), t, q, f), f.Close())
	})
	return cmd
}

func exportMemories(ctx context.Context, t cli.Target, q url.Values, w io.Writer) error {
	out := json.NewEncoder(w)
	for {
		page, err := memories(ctx, t, q, memoryPage)
		if err != nil {
			return err
		}
		for _, m := range page {
			if err := out.Encode(m); err != nil {
				return err
			}
		}
		if len(page) < memoryPage {
			return nil
		}
		q.Set("before", page[len(page)-1].ID)
	}
}
