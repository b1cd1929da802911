package commands

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func auditVerifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify [FILE]", Short: "Checks the databases for damage, and each record of the log for changes",
		Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Checks every page of the databases and recomputes the hash of every record of the audit log and of
its archives, or checks FILE: a backup of the log, or an archive, which is compared with what the log
says of it. The service may run or not. The exit code is 1 if something is wrong.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		var all []app.Verified
		if len(args) == 0 {
			all = app.Verify(cmd.Context(), home)
		} else {
			all = append(all, app.VerifyAudit(cmd.Context(), home, args[0]))
		}
		print := printVerified
		if *asJSON {
			print = func(w io.Writer, all []app.Verified) error { return cli.JSON(w, all) }
		}
		if err := print(cmd.OutOrStdout(), all); err != nil {
			return err
		}
		for _, v := range all {
			if len(v.Faults) > 0 {
				return errors.New("not everything is as it was: see docs/audit.md, Restore")
			}
		}
		return nil
	})
	cli.Group(cmd)
	return cmd
}

func printVerified(w io.Writer, all []app.Verified) error {
	for _, v := range all {
		said := "intact"
		switch {
		case len(v.Faults) > 0:
			said = strings.Join(v.Faults, "\n  ")
		case v.Records > 0:
			said = fmt.Sprintf("intact, %d records as they were recorded", v.Records)
		}
		if n := len(v.Elsewhere); n > 0 {
			said += fmt.Sprintf("\n  not in the folder of the archives: %s", strings.Join(v.Elsewhere, ", "))
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", filepath.Base(v.File), said); err != nil {
			return err
		}
	}
	return nil
}
