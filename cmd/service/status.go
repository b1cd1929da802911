package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Prints whether the web service runs; exits with 0 if it does, 3 if not",
		Args: cli.Args(cobra.NoArgs),
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		s, err := cli.NewClient(home).Status(cmd.Context())
		if err == nil {
			return printStatus(cmd.OutOrStdout(), s, *asJSON)
		}
		if !errors.Is(err, cli.ErrNotRunning) {
			return err
		}
		pid, err := findService(cmd.Context(), home)
		if err != nil {
			return err
		}
		switch {
		case *asJSON:
			err = cli.JSON(cmd.OutOrStdout(), map[string]any{"running": false, "data_folder": home.Dir()})
		case pid != 0:
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The service, pid %d, does not answer: it is starting, stopping or stuck.\n", pid)
		default:
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "The service is not running.")
		}
		return errors.Join(err, cli.Exit(cli.ExitNotRunning))
	})
	cli.Group(cmd)
	return cmd
}

func printStatus(w io.Writer, s cli.Status, asJSON bool) error {
	if asJSON {
		return cli.JSON(w, struct {
			Running bool `json:"running"`
			cli.Status
		}{true, s})
	}
	state := "running"
	if s.Stopping {
		state = "stopping"
	}
	return cli.Table(w, []string{"the service is " + state, ""}, [][]string{
		{"pid", fmt.Sprint(s.PID)},
		{"address", strings.Join(s.Addresses, ", ")},
		{"auth.mode", strings.Join(s.AuthMode, ", ")},
		{"since", s.Started.Local().Format(time.RFC3339)},
		{"version", s.Version + ", harness " + s.Harness},
		{"data folder", s.Home},
	})
}
