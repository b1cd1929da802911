package commands

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "backup", Short: "Copies the databases to a new folder, also while the service runs",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use, cmd.Args = "backup FOLDER", cli.Args(cobra.ExactArgs(1))
			cmd.Long = `Copies audit.db, identity.db, state.db and the analytical database, if there is one, to a new folder,
which only its owner can read. The service may run or not. Keys, settings and the token are not copied.`
			cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
				return backup(cmd, args[0], "/backup", app.BackupAll)
			})
			cli.Group(cmd)
		},
	})
}

// backup has the running service make a backup at path, or makes it of the files.
func backup(cmd *cobra.Command, path, endpoint string, ofFiles func(context.Context, settings.Home, string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("naming the backup: %w", err)
	}
	home, err := app.LocateHome()
	if err != nil {
		return err
	}
	err = cli.NewClient(home).Do(cmd.Context(), http.MethodPost, endpoint, map[string]string{"path": path}, nil)
	if errors.Is(err, cli.ErrNotRunning) {
		err = ofFiles(cmd.Context(), home, path)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s.\n", path)
	return nil
}
