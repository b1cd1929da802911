package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// manpageCommand writes manual pages, as Caddy's does, whose pages are all about caddy.
func manpageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "manpage --directory DIR", Short: "Writes the manual pages of all commands", Args: cli.Args(cobra.NoArgs),
		Long: "Writes a manual page for each command into DIR, which is created if it does not exist.\nThe pages are in section 8, system administration.",
	}
	dir := cmd.Flags().StringP("directory", "o", "", "folder for the pages; required")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		if *dir == "" {
			return cli.Usagef("--directory is missing: name the folder for the pages")
		}
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return fmt.Errorf("making the folder for the pages: %w", err)
		}
		if err := doc.GenManTree(cmd.Root(), &doc.GenManHeader{Title: "SERVICE", Section: "8"}, *dir); err != nil {
			return fmt.Errorf("writing the pages: %w", err)
		}
		return nil
	})
	cli.Group(cmd)
	return cmd
}
