package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reload", Short: "Has the web service read its configuration and settings again", Args: cli.Args(cobra.NoArgs),
		Long: `Has the web service read again what it was started with: the built-in Caddyfile or its --config,
and config/api.json. It keeps its flags and its environment, whatever this shell has. Streams and
runs go on. If the new configuration is refused, the old one stays.`,
	}
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		client := cli.NewClient(home)
		if err := client.Do(cmd.Context(), http.MethodPost, "/reload", nil, nil); err != nil {
			return err
		}
		s, err := client.Status(cmd.Context())
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "The service has read its configuration again.")
		announce(cmd.OutOrStdout(), home, s)
		return nil
	})
	cli.Group(cmd)
	return cmd
}

// keepListening has Caddy's reload take host and port from the service of the data folder, and not
// from the shell, which may be another than the one that started it.
func keepListening(cmd *cobra.Command) {
	before(cmd, func(cmd *cobra.Command) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Second)
		defer cancel()
		s, err := cli.NewClient(home).Status(ctx)
		if err != nil {
			return nil // Caddy says whether there is something to reload
		}
		if listens(ctx, home.AdminSocket()) {
			adminOnSocket(home)
		}
		for _, name := range cli.ListenEnv {
			value, set := s.Environment[name]
			if given := os.Getenv(name); given != "" && given != value {
				fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s is %s here and %q in the running service, which keeps it: restart the service to change it\n", name, given, value)
			}
			if set {
				err = os.Setenv(name, value)
			} else {
				err = os.Unsetenv(name)
			}
			if err != nil {
				return fmt.Errorf("keeping %s: %w", name, err)
			}
		}
		return nil
	})
}

// listens reports whether somebody listens on a socket: its file may be left of a process that was killed.
func listens(ctx context.Context, socket string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// reloadable lets run read its configuration again when it is asked to on the control socket. On
// SIGUSR1 Caddy does so by itself.
func reloadable(cmd *cobra.Command) {
	before(cmd, func(cmd *cobra.Command) error {
		config, adapter := cmd.Flags().Lookup("config"), cmd.Flags().Lookup("adapter")
		app.SetReload(func() error {
			doc, _, _, err := caddycmd.LoadConfig(config.Value.String(), adapter.Value.String())
			if err != nil {
				return err
			}
			return caddy.Load(doc, true)
		})
		return nil
	})
}
