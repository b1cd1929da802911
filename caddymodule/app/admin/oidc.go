package admin

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/credentials"
)

func oidcTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "oidc-test TOKEN|-", Short: "Checks a bearer token of an identity provider and shows each step", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Checks a bearer token of an identity provider as the API does, and shows each step
with its result and time: form, issuer, header, keys, signature, times, audience,
kind, userinfo, user, role. It exits with 1 if the user would not be let in.

With - the token is read from stdin, where other users of this host do not see
it. If a service runs, it does this with its own configuration. Otherwise, or
with --config, the command does it.`,
	}
	config := cmd.Flags().String("config", "", "try this Caddyfile's settings instead of the running service's")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		in := app.OIDCTest{Token: args[0]}
		if in.Token == "-" {
			var err error
			if in.Token, err = cli.Line(cmd.InOrStdin(), app.MaxOIDCTest, "token"); err != nil {
				return err
			}
		}
		in.Token = strings.TrimSpace(in.Token)
		if token, ok := credentials.Bearer(in.Token); ok { // copied with its scheme
			in.Token = token
		}
		report, err := explain(cmd.Context(), "/oidc/test", in, *config)
		if err != nil {
			return err
		}
		return printReport(cmd.OutOrStdout(), report, *asJSON)
	})
	cli.Group(cmd)
	return cmd
}
