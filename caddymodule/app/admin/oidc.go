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
		Use: "oidc-test {TOKEN|-|--login}", Short: "Checks a bearer token of an identity provider, or the way to log in there", Args: cli.Args(cobra.MaximumNArgs(1)),
		Long: `Checks a bearer token of an identity provider as the API does, and shows each step
with its result and time: form, issuer, header, keys, signature, times, audience,
kind, userinfo, user, role. It exits with 1 if the user would not be let in.

With --login it tries the way of a login instead, at the provider of the name
that follows, or at the only one, as far as that can be done without a person:
provider, discovery, authorization (does the provider know the client and the
redirect URI?), client (does it accept the secret?).

With - the token is read from stdin, where other users of this host do not see
it. If a service runs, it does this with its own configuration. Otherwise, or
with --config, the command does it.`,
	}
	config := cmd.Flags().String("config", "", "try this Caddyfile's settings instead of the running service's")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	login := cmd.Flags().Bool("login", false, "try the way of a login; the argument is the provider's name")
	address := cmd.Flags().String("url", "", "with --login: the address that browsers know the service by (default auth.public_url)")
	prefix := cmd.Flags().String("prefix", "/auth", "with --login: the prefix of svc_auth")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		if *login {
			in := app.OIDCTest{Login: &app.OIDCLogin{Provider: strings.Join(args, ""), URL: *address, Prefix: *prefix}}
			report, err := explain(cmd.Context(), "/oidc/test", in, *config)
			if err != nil {
				return err
			}
			return printWay(cmd.OutOrStdout(), report, *asJSON)
		}
		if len(args) == 0 {
			return cli.Usagef("a token is missing: give one, - to read it from stdin, or --login")
		}
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
