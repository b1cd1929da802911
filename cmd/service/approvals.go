package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "approvals", Short: "Lists calls that wait for approval and decides on them",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "approvals"
			cmd.Long = `Lists calls of agents that wait for a person's approval, and decides on them. Deciding needs the role
admin; others see the calls of their own runs.`
			cli.Group(cmd, approvalsListCommand(), approvalsShowCommand(), approvalsApproveCommand(), approvalsRejectCommand())
		},
	})
}

// approvalsFlags are the flags of every command.
func approvalsFlags(cmd *cobra.Command) (address *string, asJSON *bool) {
	return cli.URLFlag(cmd), cmd.Flags().Bool("json", false, "print JSON")
}

func approvalsListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "Lists calls that wait", Args: cli.Args(cobra.NoArgs)}
	address, asJSON := approvalsFlags(cmd)
	all := cmd.Flags().Bool("all", false, "also those that do not wait any more")
	limit := cmd.Flags().Int("limit", 100, "how many at most, 1 to 1000")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		if *limit < 1 || *limit > 1000 {
			return cli.Usagef("--limit: %d is not a number from 1 to 1000", *limit)
		}
		t, err := commands.FindTarget(cmd.Context(), *address)
		if err != nil {
			return err
		}
		q := url.Values{"limit": {fmt.Sprint(*limit)}}
		if !*all {
			q.Set("state", string(approval.Pending))
		}
		var list []approval.View
		if err := get(cmd.Context(), t, "/approvals?"+q.Encode(), &list); err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), list)
		}
		rows := make([][]string, len(list))
		for i, v := range list {
			rows[i] = []string{v.ID, stateOf(v), v.UserID, v.Agent, ask.Reveal(v.Tool + " " + plain(v.Input)), ask.Reveal(v.Reason), v.ExpiresAt.Local().Format(time.DateTime)}
		}
		return cli.Table(cmd.OutOrStdout(), []string{"id", "state", "user", "agent", "call", "reason", "expires"}, rows)
	})
	return cmd
}

func approvalsShowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Shows one call", Args: cli.Args(cobra.ExactArgs(1))}
	address, asJSON := approvalsFlags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		_, v, err := findApproval(cmd.Context(), *address, args[0])
		if err != nil {
			return err
		}
		return showApproval(cmd.OutOrStdout(), v, *asJSON)
	})
	return cmd
}

func approvalsApproveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve ID", Short: "Has a call made, as it is or with other arguments", Args: cli.Args(cobra.ExactArgs(1)),
		Example: `  service approvals approve call_0190f5a47c3e7b1a9f6e2d4c8a1b3e5f
  service approvals approve call_0190f5a47c3e7b1a9f6e2d4c8a1b3e5f --patch '{"command":"rm -r build/cache"}'`,
	}
	comment := cmd.Flags().String("comment", "", "for the record and the model")
	digest := cmd.Flags().String("digest", "", "of the call that you have seen, as show prints it; required when somebody has edited the call")
	patch := cmd.Flags().String("patch", "", "change the arguments first: a JSON merge patch (RFC 7396)")
	address, asJSON := approvalsFlags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		d := ask.Decision{Decision: approval.Approve, Comment: *comment, Digest: *digest}
		if *patch != "" {
			if !json.Valid([]byte(*patch)) {
				return cli.Usagef(`--patch: this is not JSON such as {"command":"df -h"}`)
			}
			d.Decision, d.Patch = approval.EditFirst, json.RawMessage(*patch)
		}
		return decideOn(cmd, *address, *asJSON, args[0], d)
	})
	return cmd
}

func approvalsRejectCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "reject ID", Short: "Has a call not made", Args: cli.Args(cobra.ExactArgs(1))}
	comment := cmd.Flags().String("comment", "", "for the record and the model")
	address, asJSON := approvalsFlags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		return decideOn(cmd, *address, *asJSON, args[0], ask.Decision{Decision: approval.Reject, Comment: *comment})
	})
	return cmd
}

// decideOn decides on a call, and shows it. Without a digest the decision is on the call as it was asked
// for. A yes to one that somebody has edited needs the digest: what was looked at may have been another.
func decideOn(cmd *cobra.Command, address string, asJSON bool, id string, d ask.Decision) error {
	t, v, err := findApproval(cmd.Context(), address, id)
	if err != nil {
		return err
	}
	if d.Digest == "" && (v.Original == nil || d.Decision == approval.Reject) {
		d.Digest = v.Digest
	}
	if v, err = (ask.Client{Service: t}).Decide(cmd.Context(), id, d); err != nil {
		return err
	}
	return showApproval(cmd.OutOrStdout(), v, asJSON)
}

func findApproval(ctx context.Context, address, id string) (cli.Target, approval.View, error) {
	var v approval.View
	t, err := commands.FindTarget(ctx, address)
	if err != nil {
		return t, v, err
	}
	err = get(ctx, t, "/approvals/"+url.PathEscape(id), &v)
	return t, v, err
}

// get reads a JSON answer.
func get(ctx context.Context, t cli.Target, path string, out any) error {
	resp, err := t.Send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPrompt)).Decode(out); err != nil {
		return fmt.Errorf("reading the service's answer: %w", err)
	}
	return nil
}

func original(v approval.View) string {
	if v.Original == nil {
		return ""
	}
	return plain(v.Original)
}

// stateOf is the state for people: what was decided counts more than that the gate knows of it.
func stateOf(v approval.View) string {
	if v.State == string(approval.Consumed) {
		return v.Outcome
	}
	return v.State
}

func showApproval(w io.Writer, v approval.View, asJSON bool) error {
	if asJSON {
		return cli.JSON(w, v)
	}
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, ask.Reveal(value))
		}
	}
	line("id", v.ID)
	line("state", stateOf(v))
	line("call", v.Tool+" "+plain(v.Input))
	printDiff(w, v.Input)
	line("original", original(v))
	line("digest", v.Digest)
	line("runs", v.Where)
	line("reason", v.Reason)
	line("rule", v.Rule)
	line("asked by", v.RequestedBy+", through the agent "+v.Agent)
	if v.UserID != v.RequestedBy {
		line("for", v.UserID)
	}
	if v.Approvers > 1 || v.OtherPerson {
		need := fmt.Sprintf("%d different people", v.Approvers)
		if v.OtherPerson {
			need += ", not " + v.RequestedBy
		}
		line("needs", need)
	}
	line("auto", v.Auto)
	for _, vote := range v.Votes {
		line(vote.Decision, strings.TrimSuffix(vote.UserID+": "+vote.Comment, ": "))
	}
	line("expires", v.ExpiresAt.Local().Format(time.DateTime))
	return nil
}
