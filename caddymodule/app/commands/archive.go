package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

func auditArchiveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "archive", Short: "Moves the records of runs that are over to files", Args: cli.Args(cobra.NoArgs),
		Long: `Moves the records of runs that have been over for a while, and of their tool calls, from the log to
archives: compressed files in the folder databases/archive of the data folder. The log says of each file
what is in it. Runs that are not over stay. The service may run or not.`,
	}
	age := cmd.Flags().String("older-than", "", "how long the runs have been over: 90d or 12h, or a date; default: the setting retention.tool_calls")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		before, err := cli.ParseTime(*age, time.Now())
		if err != nil {
			return cli.Usagef("--older-than: %w", err)
		}
		if before.After(time.Now()) {
			return cli.Usagef("--older-than: %s has not come yet", before.Format(time.RFC3339))
		}
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		answer, err := archive(cmd.Context(), home, before)
		if err != nil {
			return err
		}
		print := printArchives
		if *asJSON {
			print = func(w io.Writer, _ settings.Home, a app.ArchiveAnswer) error { return cli.JSON(w, a) }
		}
		if err := print(cmd.OutOrStdout(), home, answer); err != nil || answer.Error == "" {
			return err
		}
		return errors.New(answer.Error)
	})
	cli.Group(cmd)
	return cmd
}

// archive has the running service archive runs that ended before a time, or does it on the files.
func archive(ctx context.Context, home settings.Home, before time.Time) (answer app.ArchiveAnswer, err error) {
	in := map[string]time.Time{}
	if !before.IsZero() {
		in["before"] = before
	}
	err = cli.NewClient(home).Do(ctx, http.MethodPost, "/audit/archive", in, &answer)
	if !errors.Is(err, cli.ErrNotRunning) {
		return answer, err
	}
	if before.IsZero() {
		s, _, err := app.Resolve(home, nil)
		if err != nil {
			return answer, err
		}
		if before, err = app.ArchiveBefore(s, time.Now()); err != nil {
			return answer, cli.Usagef("%w", err)
		}
	}
	answer.Archives = []audit.Archived{}
	err = app.ArchiveFiles(ctx, home, before, func(done audit.Archived) { answer.Archives = append(answer.Archives, done) })
	if err != nil && len(answer.Archives) > 0 {
		answer.Error, err = err.Error(), nil
	}
	return answer, err
}

func printArchives(w io.Writer, home settings.Home, a app.ArchiveAnswer) error {
	for _, f := range a.Archives {
		path := filepath.Join(home.AuditArchive(), f.File)
		if _, err := fmt.Fprintf(w, "Moved %s, %s, to %s.\n", many(f.Runs, "run"), many(f.Events+f.Turns, "record"), path); err != nil {
			return err
		}
	}
	if len(a.Archives) == 0 && a.Error == "" {
		_, err := fmt.Fprintln(w, "No run is that old.")
		return err
	}
	return nil
}

func many(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
