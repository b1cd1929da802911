// Package admin is the subcommand admin: it manages the users of our stages, their tokens and
// sessions, and shows how somebody of a directory or identity provider is judged.
//
// Importing it registers the command, as package commands does for each stage that uses the app svc, so
// that any program with one of them can manage the users.
//
// While a service runs on the data folder the commands ask it over the control socket. While none
// does they work on the databases themselves, which are locked meanwhile. A command runs once a
// process; nothing here is used by several goroutines.
package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/adminapi"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "admin",
		Short: "Manages the users of the svc stages, their tokens and sessions",
		Long: `Manages the users of the svc stages, their tokens and sessions.

Run the commands as root or as the user that the service runs as. They use the
control socket of the running service, or the files if no service runs.`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "admin"
			cli.Group(cmd, adminCommands()...)
		},
	})
}

func adminCommands() []*cobra.Command {
	return []*cobra.Command{
		addUserCommand(), listUsersCommand(), setRoleCommand(), setExpiryCommand(),
		disableUserCommand(), enableUserCommand(), removeUserCommand(),
		addTokenCommand(), rotateTokenCommand(), revokeTokenCommand(),
		sessionsCommand(), endSessionsCommand(), lockoutsCommand(), unlockCommand(),
		ldapTestCommand(), oidcTestCommand(),
	}
}

// warnOfNew tells that the command makes a data folder. The service that was meant may have another one:
// it runs as another user, or its unit sets SVC_HOME.
func warnOfNew(home settings.Home) {
	if _, err := os.Stat(home.Dir()); errors.Is(err, fs.ErrNotExist) && app.IsDefaultHome(home) {
		fmt.Fprintf(os.Stderr, "Warning: this makes the data folder %s, for no service has run on it yet: if your service has another one, set SVC_HOME to that\n", home.Dir())
	}
}

// withAdmin runs f with the management of users: the running service's, or else one on the
// databases, which nobody else can write to meanwhile.
func withAdmin(ctx context.Context, f func(identity.Admin) error) error {
	home, err := app.LocateHome()
	if err != nil {
		return err
	}
	remote := cli.NewClient(home)
	if _, err = remote.Status(ctx); errors.Is(err, cli.ErrNotRunning) {
		warnOfNew(home)
		busy := app.ManageFiles(home, f)
		if !errors.Is(busy, app.ErrInUse) {
			return busy
		}
		// It may have been the service that is just starting which holds the folder.
		if _, err = remote.Status(ctx); errors.Is(err, cli.ErrNotRunning) {
			return busy
		}
	}
	if err != nil {
		return err
	}
	return f(adminapi.NewClient(remote.HTTP(), "http://localhost/identity"))
}
