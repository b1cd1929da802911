package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "admin",
		Short: "Manages the users of the svc stages and their tokens",
		Long: `Manages the users of the svc stages and their tokens.

While a service runs on the data folder, the commands work through its control
socket, as root or the user it runs as; while none does, they work on the files.`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "admin"
			cli.Group(cmd, addUserCommand(), listUsersCommand(), revokeTokenCommand(), rotateTokenCommand(), ldapTestCommand(), oidcTestCommand())
		},
	})
}

// withAdmin runs f with the management of users: the running service's, or else one on the
// files, which nobody else can write to meanwhile.
func withAdmin(ctx context.Context, f func(identity.Admin) error) error {
	home, err := LocateHome()
	if err != nil {
		return err
	}
	remote := cli.NewClient(home)
	if _, err = remote.Status(ctx); errors.Is(err, cli.ErrNotRunning) {
		var busy error
		if busy, err = onFiles(home, f); busy == nil {
			return err
		}
		// It may have been the service that is just starting which holds the folder.
		if _, err = remote.Status(ctx); errors.Is(err, cli.ErrNotRunning) {
			return busy
		}
	}
	if err != nil {
		return err
	}
	return f(identity.NewClient(remote.HTTP(), "http://localhost/identity"))
}

// onFiles runs f on the files of the data folder; busy says that another process has them.
func onFiles(home settings.Home, f func(identity.Admin) error) (busy, err error) {
	if err := home.Create(); err != nil {
		return nil, err
	}
	l, err := acquireLock(home, lockWait)
	if errors.Is(err, ErrInUse) {
		return err, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := open(home)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	s.lock = l
	return nil, errors.Join(f(s.identity.As(identity.OSPrincipal(os.Geteuid()))), s.close())
}

func addUserCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "add-user NAME", Short: "Adds a user and prints the first token, once", Args: cli.Args(cobra.ExactArgs(1))}
	role := cmd.Flags().String("role", string(policy.User), "admin, user or readonly")
	expires := cmd.Flags().String("expires", "", "end of the account: 90d, 12h, 2027-01-31 or RFC 3339; never when not given")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		u := identity.AddUser{Name: args[0]}
		var err error
		if u.Role, err = policy.ParseRole(*role); err != nil {
			return cli.Usagef("--role: %w", err)
		}
		if cmd.Flags().Changed("expires") {
			if u.Expires, err = identity.ParseExpiry(*expires, time.Now()); err != nil {
				return cli.Usagef("--expires: %w", err)
			}
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			user, secret, err := admin.AddUser(cmd.Context(), u)
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.JSON(cmd.OutOrStdout(), struct {
					identity.User
					Token string `json:"token"`
				}{user, secret.Reveal()})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Added %s with the role %s%s. The token, shown only now:\n%s\n",
				user.Name, user.Role, until(user.Expires), secret.Reveal())
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.Format(time.RFC3339)
}

func listUsersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list-users", Short: "Lists the users and their tokens", Args: cli.Args(cobra.NoArgs)}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			users, err := admin.Users(cmd.Context())
			if err != nil {
				return err
			}
			if *asJSON {
				if users == nil {
					users = []identity.Account{}
				}
				return cli.JSON(cmd.OutOrStdout(), users)
			}
			var rows [][]string
			for _, u := range users {
				state := ""
				if u.Disabled {
					state = "disabled"
				}
				rows = append(rows, []string{u.Name, string(u.Role), date(u.Expires), state, "", "", ""})
				for _, t := range u.Tokens {
					rows = append(rows, []string{"", "", date(t.Expires), tokenState(t, time.Now()), t.ID, t.Name, date(t.LastUsed)})
				}
			}
			return cli.Table(cmd.OutOrStdout(), []string{"user", "role", "expires", "state", "token", "name", "last used"}, rows)
		})
	})
	cli.Group(cmd)
	return cmd
}

func date(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func tokenState(t identity.Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired"
	}
	return "works"
}

func revokeTokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke-token NAME [ID]", Short: "Ends a token of a user, or all", Args: cli.Args(cobra.RangeArgs(1, 2))}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		var id string
		if len(args) == 2 {
			if id = args[1]; id == "" {
				return cli.Usagef("the token's ID is empty: leave it out to end all of them")
			}
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			ended, err := admin.RevokeToken(cmd.Context(), args[0], id)
			if err != nil {
				return err
			}
			if *asJSON {
				if ended == nil {
					ended = []identity.Token{}
				}
				return cli.JSON(cmd.OutOrStdout(), ended)
			}
			if len(ended) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "Nothing to end: no such token of %s worked any more.\n", args[0])
				return nil
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

func rotateTokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "rotate-token NAME", Short: "Replaces a user's token and prints the new one, once", Args: cli.Args(cobra.ExactArgs(1))}
	grace := cmd.Flags().String("grace", "0s", "how long the old token goes on working, such as 24h or 1d")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		d, err := caddy.ParseDuration(*grace)
		if err != nil || d < 0 {
			return cli.Usagef("--grace: %q is not a duration such as 24h or 1d", *grace)
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			_, secret, err := admin.RotateToken(cmd.Context(), args[0], "", d)
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.JSON(cmd.OutOrStdout(), map[string]string{"user": args[0], "token": secret.Reveal()})
			}
			old := "ended"
			if d > 0 {
				old = "works for " + d.String() + " more"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The old token of %s %s. The new one, shown only now:\n%s\n", args[0], old, secret.Reveal())
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}
