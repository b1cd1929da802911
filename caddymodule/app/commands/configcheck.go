package commands

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

// Check looks at a file of the data folder that config check does not know of.
type Check struct {
	What string                     // what is in the file, in the plural
	File func(settings.Home) string // its path
	Look func(path string) (n int, wrong []error)
}

// checks are those of the stages in this program.
var checks []Check

// AlsoCheck has config check look at one more file. Packages call it when they are initialised.
func AlsoCheck(c Check) { checks = append(checks, c) }

func configCheckCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "check", Args: cli.Args(cobra.NoArgs)}
	files := ""
	for _, c := range checks {
		files += " and the file " + filepath.Base(c.File(settings.Home{})) + " of the data folder"
	}
	cmd.Short = "Checks the settings" + files
	cmd.Long = "Checks the settings, as a start with the same flags and environment would use them" + files + `.
It names each mistake and ends with exit code 1 if there is one.`
	var o options
	o.flags(cmd)
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
		said, doc := "The settings are good", map[string]any{"data_folder": home.Dir()}
		for _, c := range checks {
			path := c.File(home)
			n, wrong := c.Look(path)
			for _, m := range wrong {
				mistakes = append(mistakes, fmt.Errorf("%s: %w", filepath.Base(path), m))
			}
			doc[c.What] = n
			said += fmt.Sprintf(", and there are %d %s in %s", n, c.What, path)
		}
		if !*asJSON {
			if len(mistakes) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), said+".")
			}
			return errors.Join(mistakes...)
		}
		texts := make([]string, len(mistakes))
		for i, m := range mistakes {
			texts[i] = m.Error()
		}
		doc["mistakes"] = texts
		if err := cli.JSON(cmd.OutOrStdout(), doc); err != nil {
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
