package admin

import (
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func ldapTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ldap-test USER", Short: "Looks up a user of the directory and shows each step", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Looks up a user of the directory as a login does, and shows each step with its
result and time: connect, tls, bind (of the account that searches), entry,
password, groups, role. It exits with 1 if the user would not be let in.

If a service runs, it does this with its own configuration. Otherwise, or with
--config, the command does it. Without --password-stdin no password is tried. A
wrong password counts as a failure in the directory.`,
	}
	stdin := cmd.Flags().Bool("password-stdin", false, "read the user's password from stdin and try it")
	config := cmd.Flags().String("config", "", "try this Caddyfile's settings instead of the running service's")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		in := app.LDAPTest{User: args[0]}
		if *stdin {
			var err error
			if in.Password, err = cli.Line(cmd.InOrStdin(), 4096, "password"); err != nil {
				return err
			}
			if in.Password == "" {
				return cli.Usagef("--password-stdin: the password is empty")
			}
		}
		report, err := explain(cmd.Context(), "/ldap/test", in, *config)
		if err != nil {
			return err
		}
		return printReport(cmd.OutOrStdout(), report, *asJSON)
	})
	cli.Group(cmd)
	return cmd
}
