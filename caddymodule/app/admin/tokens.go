package admin

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// printToken prints a new token, with the sentence before it, or as JSON.
func printToken(w io.Writer, asJSON bool, sentence string, t identity.Token, secret identity.Secret) error {
	if asJSON {
		return cli.JSON(w, struct {
			identity.Token
			Secret string `json:"token"`
		}{t, secret.Reveal()})
	}
	_, err := fmt.Fprintf(w, "%s is shown only once:\n%s\n", sentence, secret.Reveal())
	return err
}

func addTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add-token NAME --name TOKEN", Short: "Gives a user one more token and prints it once", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Gives a user one more token and prints it once. Give each program its own token, so
that each can be rotated and revoked by itself. Its role is at most the user's.`,
	}
	name := cmd.Flags().String("name", "", "what the token is for, such as ci; required")
	role := cmd.Flags().String("role", "", "admin, user or readonly; by default that of the user")
	expires := cmd.Flags().String("expires", "", "end of the token: 90d, 12h, 2027-01-31 or RFC 3339; by default never")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		t := identity.AddToken{Name: *name}
		var err error
		if t.Name == "" {
			return cli.Usagef("--name is missing: say what the token is for")
		}
		if cmd.Flags().Changed("role") {
			if t.Role, err = policy.ParseRole(*role); err != nil {
				return cli.Usagef("--role: %w", err)
			}
		}
		if cmd.Flags().Changed("expires") {
			if t.Expires, err = identity.ParseExpiry(*expires, time.Now()); err != nil {
				return cli.Usagef("--expires: %w", err)
			}
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			token, secret, err := admin.AddToken(cmd.Context(), args[0], t)
			if err != nil {
				return err
			}
			sentence := fmt.Sprintf("Added the token %s (%s) of %s%s. It", token.Name, token.ID, token.User, until(token.Expires))
			return printToken(cmd.OutOrStdout(), *asJSON, sentence, token, secret)
		})
	})
	cli.Group(cmd)
	return cmd
}

// tokenArg is the optional argument that names a token; all says what happens without it.
func tokenArg(args []string, all string) (string, error) {
	if len(args) < 2 {
		return "", nil
	}
	if args[1] == "" {
		return "", cli.Usagef("the token's name or ID is empty: leave it out to %s", all)
	}
	return args[1], nil
}

func revokeTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke-token NAME [TOKEN]", Short: "Ends a token of a user, or everything the user has", Args: cli.Args(cobra.RangeArgs(1, 2)),
		Long: `Ends a token of a user, by its name or ID, and the sessions that were opened
with it. Without TOKEN it ends everything the user has: tokens, sessions, and
what a directory or identity provider vouched for before now.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		token, err := tokenArg(args, "end all of them")
		if err != nil {
			return err
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			ended, err := admin.RevokeToken(cmd.Context(), args[0], token)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSONList(cmd.OutOrStdout(), ended)
			}
			if len(ended) == 0 {
				return printNoToken(cmd, admin, args[0], token == "")
			}
			ids := make([]string, len(ended))
			for i, t := range ended {
				ids[i] = t.ID
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Ended for %s: %s\n", args[0], strings.Join(ids, ", "))
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}

// printNoToken says what a revocation that found no token has done: somebody from outside has none
// here, and is cut off from what was vouched for.
func printNoToken(cmd *cobra.Command, admin identity.Admin, user string, all bool) error {
	accounts, err := admin.Users(cmd.Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(accounts, func(a identity.Account) bool { return a.Name == user })
	if !all || i < 0 || accounts[i].Source == "" {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "Nothing to end: %s has no such token that still works.\n", user)
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Ended for %s: all sessions, and everything that %s has vouched for until now.\n", user, vouchers[accounts[i].Source])
	return err
}

// vouchers are who vouches for accounts from outside.
var vouchers = map[string]string{
	policy.SourceLDAP: "the directory", policy.SourceOIDC: "the identity provider", policy.SourceCertificate: "a certificate",
}

func rotateTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rotate-token NAME [TOKEN]", Short: "Replaces a user's token and prints the new one once", Args: cli.Args(cobra.RangeArgs(1, 2)),
		Long: `Replaces a token of a user, by its name or ID, with a new one that has the same
name, role and lifetime, and prints the new one once. Without TOKEN it replaces
the token named "default". The old token ends, or works for the grace period.`,
	}
	grace := cmd.Flags().String("grace", "0s", "how long the old token keeps working, such as 24h or 1d")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		token, err := tokenArg(args, "rotate the default one")
		if err != nil {
			return err
		}
		d, err := caddy.ParseDuration(*grace)
		if err != nil || d < 0 {
			return cli.Usagef("--grace: %q is not a duration such as 24h or 1d", *grace)
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			fresh, secret, err := admin.RotateToken(cmd.Context(), args[0], token, d)
			if err != nil {
				return err
			}
			old := "ended"
			if d > 0 {
				old = "works for another " + *grace
			}
			valid := until(fresh.Expires)
			if valid != "" {
				valid = ", valid" + valid + ","
			}
			sentence := fmt.Sprintf("The old token %s of %s %s. The new one%s", fresh.Name, args[0], old, valid)
			return printToken(cmd.OutOrStdout(), *asJSON, sentence, fresh, secret)
		})
	})
	cli.Group(cmd)
	return cmd
}
