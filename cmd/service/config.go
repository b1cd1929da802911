package main

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
		Long: `Prints every setting with its value and where it comes from, as web start with the same
flags and environment would use it. With --running it asks the running service.`,
	}
	var o startOptions
	cmd.Flags().StringVar(&o.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a setting, as section.key=value; may be repeated")
	running := cmd.Flags().Bool("running", false, "ask the running service")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		var values []settings.Value
		if *running {
			if len(o.args()) > 0 {
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

func (o startOptions) resolve(cmd *cobra.Command, home settings.Home) ([]settings.Value, error) {
	if err := o.apply(); err != nil {
		return nil, err
	}
	warnStray(cmd.ErrOrStderr())
	doc, err := adapt(o.config, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	written, err := app.Sections(doc)
	if err != nil {
		return nil, err
	}
	_, values, err := app.Resolve(home, written)
	return values, err
}
