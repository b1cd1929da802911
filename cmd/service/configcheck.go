package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func configCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Checks the settings and hooks.json", Args: cli.Args(cobra.NoArgs),
		Long: `Checks the settings, as web start with the same flags and environment would use them, and the
file hooks.json of the data folder. It names each mistake and ends with exit code 1 if there is one.`,
	}
	var o startOptions
	cmd.Flags().StringVar(&o.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a setting, as section.key=value; may be repeated")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		var mistakes []error
		if _, err := o.resolve(cmd, home); err != nil {
			mistakes = append(mistakes, err)
		}
		hooks, wrong := hook.Check(home.Hooks())
		for _, m := range wrong {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", filepath.Base(home.Hooks()), m))
		}
		if !*asJSON {
			if len(mistakes) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "The settings are good, and there are %d hooks in %s.\n", hooks, home.Hooks())
			}
			return errors.Join(mistakes...)
		}
		texts := make([]string, len(mistakes))
		for i, m := range mistakes {
			texts[i] = m.Error()
		}
		if err := cli.JSON(cmd.OutOrStdout(), map[string]any{"data_folder": home.Dir(), "hooks": hooks, "mistakes": texts}); err != nil {
			return err
		}
		if len(mistakes) > 0 {
			return cli.Exit(cli.ExitError)
		}
		return nil
	})
	cli.Group(cmd)
	return cmd
}
