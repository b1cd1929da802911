package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "audit", Short: "Reads, checks, backs up and archives the audit log",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "audit"
			cmd.Long = `Reads, checks, backs up and archives the audit log. The service may run or not. The tables are audit_events
and audit_runs; the views tool_calls and denials are easier to read.`
			cli.Group(cmd, auditQueryCommand(), auditTailCommand(), auditExportCommand(), auditBackupCommand(), auditVerifyCommand(), auditArchiveCommand(), auditAcceptCommand())
		},
	})
}

func auditQueryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "query SQL", Short: "Runs one SELECT on the log", Args: cli.Args(cobra.ExactArgs(1)),
		Example: cli.Examples(`audit query "select time, user, method, path, code from audit_events"`,
			`audit query "select tool, decision, status, duration_ms from tool_calls"`,
			`audit query --archive audit-1-4170.jsonl.zst "select count(*) from tool_calls"`),
	}
	format := cmd.Flags().String("format", "table", "table, json or csv")
	limit := cmd.Flags().Int("limit", 10_000, "maximum number of rows")
	archives := cmd.Flags().StringArray("archive", nil, "ask this archive instead of the log; give the flag again for more of them")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		write, ok := cli.Formats[*format]
		if !ok {
			return cli.Usagef("--format: %q is not one of table, json and csv", *format)
		}
		if *limit < 1 {
			return cli.Usagef("--limit: %d is not a number of rows", *limit)
		}
		with := WithReader
		if len(*archives) > 0 {
			with = withArchives(*archives)
		}
		return with(cmd.Context(), func(r *audit.Reader) error {
			limits := audit.Limits{Rows: *limit, Bytes: 256 << 20, Copy: 1 << 30, Time: time.Minute}
			columns, rows, err := r.Query(cmd.Context(), audit.Filter{}, args[0], limits)
			if err != nil && !errors.Is(err, audit.ErrLimit) {
				return err
			}
			return errors.Join(write(cmd.OutOrStdout(), columns, rows), err)
		})
	})
	cli.Group(cmd)
	return cmd
}

// filterFlags are the flags that select events.
func filterFlags(cmd *cobra.Command) func() (audit.Filter, error) {
	var f audit.Filter
	var since, until string
	cmd.Flags().StringVar(&f.User, "user", "", "only events of this user")
	cmd.Flags().StringVar(&f.Run, "run", "", "only events of this run")
	cmd.Flags().StringVar(&since, "since", "", "only events from then on: 12h or 7d (ago), a date, or RFC 3339")
	cmd.Flags().StringVar(&until, "until", "", "only events before then, in the form of --since")
	return func() (audit.Filter, error) {
		var err error
		if f.Since, err = cli.ParseTime(since, time.Now()); err != nil {
			return f, cli.Usagef("--since: %w", err)
		}
		if f.Until, err = cli.ParseTime(until, time.Now()); err != nil {
			return f, cli.Usagef("--until: %w", err)
		}
		return f, nil
	}
}

func auditTailCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tail", Short: "Prints the newest events", Args: cli.Args(cobra.NoArgs)}
	filter := filterFlags(cmd)
	lines := cmd.Flags().IntP("lines", "n", 20, "number of events to begin with")
	follow := cmd.Flags().BoolP("follow", "f", false, "keep printing new events until Ctrl-C")
	asJSON := cmd.Flags().Bool("json", false, "print one JSON document on each line")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		f, err := filter()
		if err != nil {
			return err
		}
		if *lines < 1 {
			return cli.Usagef("--lines: %d is not a number of lines", *lines)
		}
		return WithReader(cmd.Context(), func(r *audit.Reader) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			return tail(ctx, cmd.OutOrStdout(), r, f, *lines, *follow, *asJSON)
		})
	})
	cli.Group(cmd)
	return cmd
}

func auditExportCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "export", Short: "Writes events to stdout, one JSON document on each line, the oldest first", Args: cli.Args(cobra.NoArgs)}
	filter := filterFlags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		f, err := filter()
		if err != nil {
			return err
		}
		return WithReader(cmd.Context(), func(r *audit.Reader) error {
			return r.Export(cmd.Context(), cmd.OutOrStdout(), f)
		})
	})
	cli.Group(cmd)
	return cmd
}

func auditBackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Writes a complete copy of the log to a new file, also while the service runs",
		Args: cli.Args(cobra.ExactArgs(1)),
	}
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		return backup(cmd, args[0], "/audit/backup", app.BackupFiles)
	})
	cli.Group(cmd)
	return cmd
}

func auditAcceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept", Short: "Accepts a log that a start refuses, and records that", Args: cli.Args(cobra.NoArgs),
		Long: `Accepts the log as it is although it is missing, another one, shorter than it was or changed, so that the
service starts with it. What was wrong is recorded. The service must not run.`,
	}
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		if err := app.AcceptFiles(home); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "The log is the one that the next start begins with. If something was wrong with it, its newest record says what.")
		return nil
	})
	cli.Group(cmd)
	return cmd
}

// WithReader runs f with the audit log of the data folder, open for reading.
func WithReader(ctx context.Context, f func(*audit.Reader) error) error {
	home, err := app.LocateHome()
	if err != nil {
		return err
	}
	r, err := app.OpenAuditReader(ctx, home)
	if err != nil {
		return err
	}
	return errors.Join(f(r), r.Close())
}

// withArchives is [WithReader] of archives.
func withArchives(paths []string) func(context.Context, func(*audit.Reader) error) error {
	return func(_ context.Context, f func(*audit.Reader) error) error {
		r, err := app.OpenAuditArchives(paths)
		if err != nil {
			return err
		}
		return errors.Join(f(r), r.Close())
	}
}
