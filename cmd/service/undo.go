package main

import (
	"fmt"
	"net/http"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/undo"
	agentsmodule "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "undo", Short: "Restores the files that a run has written",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "undo RUN"
			cmd.Long = `Restores the files that a run has written with write_file and edit_file, and removes those that it has
made. If somebody has changed one of them since, nothing is restored, unless --force is given.

What commands and programs have changed is not restored. The service must be running, and the command
be run as root or as the service's user.`
			cmd.Example = `  service undo 0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f`
			cmd.Args = cli.Args(cobra.ExactArgs(1))
			force := cmd.Flags().Bool("force", false, "also restore files that somebody has changed since")
			asJSON := cmd.Flags().Bool("json", false, "print JSON")
			cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
				home, err := app.LocateHome()
				if err != nil {
					return err
				}
				var done []undo.Restored
				err = cli.NewClient(home).Do(cmd.Context(), http.MethodPost, "/undo", agentsmodule.UndoRequest{Run: args[0], Force: *force}, &done)
				if err != nil {
					return err
				}
				if *asJSON {
					return cli.JSON(cmd.OutOrStdout(), done)
				}
				for _, f := range done {
					did := "restored"
					if f.Removed {
						did = "removed"
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", did, ask.Reveal(f.Path))
				}
				return nil
			})
		},
	})
}
