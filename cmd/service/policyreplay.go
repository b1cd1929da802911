package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/recorded"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/policy/replay"
)

// replayPage is how many records are read at a time.
const replayPage = 2000

func policyReplayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay [FILE…]", Short: "Shows which decisions on record would be others",
		Long: `Decides again on the calls that are on record, with the rules of the data folder and of the files. A
file with the name of one in the data folder takes its place. A decision is marked as inexact when a
rule reads what the record does not hold: a secret, or a counter that no rule asked for then.`,
		Example: `  service policy replay --since 7d evening.yaml`,
	}
	since := cmd.Flags().String("since", "7d", "only decisions from then on: 12h or 7d (ago), a date, or RFC 3339")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, paths []string) error {
		from, err := cli.ParseTime(*since, time.Now())
		if err != nil {
			return cli.Usagef("--since: %w", err)
		}
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		e, _, err := loadPolicy(home, paths)
		if err != nil {
			return err
		}
		return commands.WithReader(cmd.Context(), func(r *audit.Reader) error {
			without := 0
			report, err := replay.Run(e, decisions(cmd.Context(), r, from, &without))
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.JSON(cmd.OutOrStdout(), map[string]any{
					"policy_hash": e.Hash(), "since": from, "decisions": report.Decisions, "inexact": report.Inexact,
					"not_replayed": without, "changes": report.Changes,
				})
			}
			return printReplay(cmd.OutOrStdout(), report, without)
		})
	})
	cli.Group(cmd)
	return cmd
}

// decisions yields the first decision on each call, in the order of the records. without counts those
// that cannot be made again: no policy was asked, or by a version that did not record on what.
func decisions(ctx context.Context, r *audit.Reader, since time.Time, without *int) iter.Seq2[replay.Decision, error] {
	return func(yield func(replay.Decision, error) bool) {
		seen := map[[2]string]bool{}
		for after := int64(0); ; {
			events, err := r.Events(ctx, audit.Filter{Since: since, After: after, Limit: replayPage})
			if err != nil {
				yield(replay.Decision{}, err)
				return
			}
			for _, e := range events {
				after = e.Seq
				call := [2]string{e.Run, e.Call}
				if e.Type != audit.ToolWait && e.Type != audit.ToolStart && e.Type != audit.ToolDenied || seen[call] {
					continue
				}
				seen[call] = true
				d, ok := recorded.Decision(e)
				if !ok {
					*without++
				} else if !yield(d, nil) {
					return
				}
			}
			if len(events) < replayPage {
				return
			}
		}
	}
}

func printReplay(out io.Writer, r replay.Report, without int) error {
	rows := make([][]string, len(r.Changes))
	inexact := 0
	for i, c := range r.Changes {
		note := ""
		if c.Inexact {
			note = "inexact"
			inexact++
		}
		rows[i] = []string{c.Time.Local().Format("2006-01-02 15:04:05"), c.ID, c.User, c.Agent, c.Tool, outcomeOf(c.Was), outcomeOf(c.Now), note}
	}
	if len(rows) > 0 {
		if err := cli.Table(out, []string{"time", "call", "user", "agent", "tool", "was", "would be", ""}, rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "Of %d decisions %d would be others, %d of them inexact. %d calls could not be decided again.\n", r.Decisions, len(r.Changes), inexact, without)
	return err
}
