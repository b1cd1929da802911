package admin

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/policy/identity"
)

func sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions [NAME]", Short: "Lists the sessions of a user, or of all users", Args: cli.Args(cobra.MaximumNArgs(1))}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		var user string
		if len(args) == 1 {
			if user = args[0]; user == "" {
				return cli.Usagef("the user's name is empty: leave it out to list all sessions")
			}
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			sessions, err := admin.Sessions(cmd.Context(), user)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSONList(cmd.OutOrStdout(), sessions)
			}
			rows := make([][]string, len(sessions))
			for i, s := range sessions {
				rows[i] = []string{
					s.User, s.ID, string(s.Kind), s.Source, date(s.Created), date(s.Expires), date(s.LastUsed),
					cmp.Or(s.Address, "-"), cmp.Or(s.Agent, "-"),
				}
			}
			return cli.Table(cmd.OutOrStdout(), []string{"user", "session", "kind", "source", "since", "until", "last used", "address", "agent"}, rows)
		})
	})
	cli.Group(cmd)
	return cmd
}

func endSessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "end-sessions NAME [ID]", Short: "Ends one or all sessions of a user", Args: cli.Args(cobra.RangeArgs(1, 2)),
		Long: `Ends one session of a user, or all, everywhere. The streams and runs of a
session end too. Without ID, what a directory or identity provider vouched for
before now ends as well. Tokens of this service keep working.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		var id string
		if len(args) == 2 {
			if id = args[1]; id == "" {
				return cli.Usagef("the session's ID is empty: leave it out to end all of them")
			}
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			ended, err := admin.EndSessions(cmd.Context(), args[0], id)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSONList(cmd.OutOrStdout(), ended)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Sessions of %s that were ended: %d.\n", args[0], len(ended))
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}
