package admin

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/policy/identity"
)

func lockoutsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "lockouts", Short: "Lists who is locked out after too many wrong passwords", Args: cli.Args(cobra.NoArgs)}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			lockouts, err := admin.Lockouts(cmd.Context())
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSONList(cmd.OutOrStdout(), lockouts)
			}
			rows := make([][]string, len(lockouts))
			for i, l := range lockouts {
				rows[i] = []string{cmp.Or(l.User, "everybody"), cmp.Or(l.Address, "new ones"), date(l.Since), date(l.Until), strconv.Itoa(l.Times)}
			}
			return cli.Table(cmd.OutOrStdout(), []string{"user", "address", "since", "until", "times"}, rows)
		})
	})
	cli.Group(cmd)
	return cmd
}

func unlockCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "unlock NAME|ADDRESS", Short: "Ends the lockouts of a user or of an address", Args: cli.Args(cobra.ExactArgs(1))}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			ended, err := admin.Unlock(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSONList(cmd.OutOrStdout(), ended)
			}
			if len(ended) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is not locked out.\n", args[0])
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Lockouts of %s that were ended: %d.\n", args[0], len(ended))
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}
