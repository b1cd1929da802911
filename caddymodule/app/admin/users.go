package admin

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func addUserCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "add-user NAME", Short: "Adds a user and prints the first token once", Args: cli.Args(cobra.ExactArgs(1))}
	role := cmd.Flags().String("role", string(policy.User), "admin, user or readonly")
	expires := cmd.Flags().String("expires", "", "end of the account: 90d, 12h, 2027-01-31 or RFC 3339; by default never")
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
			fmt.Fprintf(cmd.OutOrStdout(), "Added %s with the role %s%s. The token is shown only once:\n%s\n",
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
			now := time.Now()
			if *asJSON {
				err = printJSONList(cmd.OutOrStdout(), users)
			} else {
				err = printUsers(cmd.OutOrStdout(), users, now)
			}
			if err != nil {
				return err
			}
			for _, u := range users {
				for i := range u.Tokens {
					if t := &u.Tokens[i]; t.Old(now) {
						fmt.Fprintf(cmd.ErrOrStderr(), "Warning: the token %s of %s is %d days old: %s %s %s\n",
							t.Name, u.Name, t.Days(now), cli.Command("admin rotate-token"), u.Name, t.ID)
					}
				}
			}
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}

func printUsers(w io.Writer, users []identity.Account, now time.Time) error {
	var rows [][]string
	for _, u := range users {
		seen := ""
		if u.Source != "" {
			seen = date(u.LastLogin)
		}
		rows = append(rows, []string{u.Name, string(u.Role), cmp.Or(u.Source, "token"), date(u.Expires), userState(u.User, now), "", "", "", seen})
		for _, t := range u.Tokens {
			age := fmt.Sprintf("%d d", t.Days(now))
			rows = append(rows, []string{"", string(t.Role), "", date(t.Expires), tokenState(t, now), t.ID, t.Name, age, date(t.LastUsed)})
		}
	}
	return cli.Table(w, []string{"user", "role", "source", "expires", "state", "token", "name", "age", "last used"}, rows)
}

// printJSONList prints a list, also when it is nil.
func printJSONList[T any](w io.Writer, list []T) error {
	if list == nil {
		list = []T{}
	}
	return cli.JSON(w, list)
}

func date(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func userState(u identity.User, now time.Time) string {
	switch {
	case u.Disabled:
		return "disabled"
	case !u.Expires.IsZero() && !now.Before(u.Expires):
		return "expired"
	}
	return ""
}

func tokenState(t identity.Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired"
	case t.Old(now):
		return "works, old"
	}
	return "works"
}

func setRoleCommand() *cobra.Command {
	return updateUserCommand("set-role NAME ROLE", "Changes the role of a user: admin, user or readonly", func(args []string) (identity.UpdateUser, error) {
		role, err := policy.ParseRole(args[0])
		return identity.UpdateUser{Role: &role}, err
	}, func(u identity.User) string { return "has the role " + string(u.Role) })
}

func setExpiryCommand() *cobra.Command {
	return updateUserCommand("set-expiry NAME WHEN", "Changes the end of an account: 90d, 12h, 2027-01-31, RFC 3339 or never", func(args []string) (identity.UpdateUser, error) {
		if args[0] == "never" {
			return identity.UpdateUser{Expires: &time.Time{}}, nil
		}
		end, err := identity.ParseExpiry(args[0], time.Now())
		return identity.UpdateUser{Expires: &end}, err
	}, func(u identity.User) string {
		if u.Expires.IsZero() {
			return "has no end"
		}
		return "ends at " + u.Expires.Format(time.RFC3339)
	})
}

func disableUserCommand() *cobra.Command {
	return updateUserCommand("disable-user NAME", "Keeps a user out until enable-user, and ends all sessions of the user", disabled(true),
		func(identity.User) string { return "is disabled" })
}

func enableUserCommand() *cobra.Command {
	return updateUserCommand("enable-user NAME", "Lets a disabled user in again", disabled(false),
		func(identity.User) string { return "is enabled" })
}

func disabled(is bool) func([]string) (identity.UpdateUser, error) {
	return func([]string) (identity.UpdateUser, error) { return identity.UpdateUser{Disabled: &is}, nil }
}

// updateUserCommand is a command that changes one thing of the user NAME. parse reads the
// arguments after NAME, done says what became of the user.
func updateUserCommand(use, short string, parse func([]string) (identity.UpdateUser, error), done func(identity.User) string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cli.Args(cobra.ExactArgs(len(strings.Fields(use)) - 1))}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		change, err := parse(args[1:])
		if err != nil {
			return cli.Usagef("%w", err)
		}
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			user, err := admin.UpdateUser(cmd.Context(), args[0], change)
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.JSON(cmd.OutOrStdout(), user)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s.\n", user.Name, done(user))
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}

func removeUserCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove-user NAME", Short: "Removes a user with all tokens and sessions", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Removes a user: ends all tokens and sessions and takes the user off the list.
What belongs to the user stays, and the name stays reserved: no external user
can get it. add-user gives it to a new user, who then owns what belongs to it.

An external user who logs in again gets the account back. To keep a user out,
use disable-user.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		return withAdmin(cmd.Context(), func(admin identity.Admin) error {
			user, err := admin.RemoveUser(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.JSON(cmd.OutOrStdout(), user)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Removed %s.\n", user.Name)
			return nil
		})
	})
	cli.Group(cmd)
	return cmd
}
