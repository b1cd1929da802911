package commands

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "config", Short: "Shows and checks the settings",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "config"
			cli.Group(cmd, configShowCommand(), configCheckCommand())
		},
	})
}

func configShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Prints every setting with its value and origin", Args: cli.Args(cobra.NoArgs),
		Long: `Prints every setting with its value and where it comes from, as a start with the same flags
and environment would use it. With --running it asks the running service.`,
	}
	var o options
	o.flags(cmd)
	running := cmd.Flags().Bool("running", false, "ask the running service")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		var values []settings.Value
		if *running {
			if o.given() {
				return cli.Usagef("--running and other flags exclude each other")
			}
			err = cli.NewClient(home).Do(cmd.Context(), "GET", "/settings", nil, &values)
		} else {
			values, err = o.resolve(cmd, home)
		}
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), map[string]any{"data_folder": home.Dir(), "settings": values})
		}
		rows := make([][]string, len(values))
		for i, v := range values {
			rows[i] = []string{v.Key, v.Value, string(v.Origin), v.Place}
		}
		return cli.Table(cmd.OutOrStdout(), []string{"setting", "value", "origin", "place"}, rows)
	})
	cli.Group(cmd)
	return cmd
}
