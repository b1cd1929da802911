package app

import (
	"context"
	"errors"
	"os"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "admin",
		Short: "Manages the users of the svc stages, their tokens and sessions",
		Long: `Manages the users of the svc stages, their tokens and sessions.

While a service runs on the data folder, the commands work through its control
socket, as root or the user it runs as; while none does, they work on the files.`,
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
	s, err := openFiles(home)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	s.lock = l
	return nil, errors.Join(f(s.identity.As(identity.OSPrincipal(os.Geteuid()))), s.close())
}
