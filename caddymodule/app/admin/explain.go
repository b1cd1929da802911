package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// trial is a credential of another source that an admin wants to see judged. In JSON it is what
// the running service is asked.
type trial interface {
	// Explain judges it with the settings, without a running service.
	Explain(ctx context.Context, s settings.Settings) (identity.Report, error)
}

// explain asks the running service at a path of the control socket, or else judges by itself:
// when none runs, or with the settings of a configuration file.
func explain(ctx context.Context, path string, t trial, config string) (report identity.Report, err error) {
	home, err := app.LocateHome()
	if err != nil {
		return report, err
	}
	var sections json.RawMessage
	if config == "" {
		err := cli.NewClient(home).Do(ctx, http.MethodPost, path, t, &report)
		if !errors.Is(err, cli.ErrNotRunning) && !problem.HasCode(err, cli.NotReady) {
			return report, err
		}
	} else if sections, err = configured(config); err != nil {
		return report, err
	}
	s, _, err := app.Resolve(home, sections)
	if err != nil {
		return report, err
	}
	return t.Explain(ctx, s)
}

// configured returns the app's part of a configuration file.
func configured(file string) (json.RawMessage, error) {
	doc, _, _, err := caddycmd.LoadConfig(file, "")
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return app.Sections(doc)
}

// printReport prints a report; one of somebody who would not be let in is an error.
func printReport(w io.Writer, r identity.Report, asJSON bool) error {
	var err error
	if asJSON {
		err = cli.JSON(w, r)
	} else {
		err = printTable(w, r)
	}
	if err == nil && r.Error != "" {
		err = cli.Exit(cli.ExitError)
	}
	return err
}

func printTable(w io.Writer, r identity.Report) error {
	if err := printSteps(w, r); err != nil {
		return err
	}
	if r.Error != "" {
		_, err := fmt.Fprintf(w, "Not let in: %s\n", r.Error)
		return err
	}
	_, err := fmt.Fprintf(w, "Let in as %s with the role %s.\n", r.User, r.Role)
	return err
}

// printWay prints the report of a login that nobody made; one that cannot be made is an error.
func printWay(w io.Writer, r identity.Report, asJSON bool) error {
	if asJSON {
		return printReport(w, r, true)
	}
	if err := printSteps(w, r); err != nil {
		return err
	}
	if r.Error != "" {
		fmt.Fprintf(w, "Nobody can log in: %s\n", r.Error)
		return cli.Exit(cli.ExitError)
	}
	_, err := fmt.Fprintln(w, "The way to log in is open. Whether somebody is let in, their token says.")
	return err
}

func printSteps(w io.Writer, r identity.Report) error {
	rows := make([][]string, len(r.Steps))
	for i, s := range r.Steps {
		result := "ok"
		if s.Error != "" {
			result = "FAILED"
		}
		rows[i] = []string{s.Name, result, fmt.Sprintf("%.1f ms", s.Duration), cmp.Or(s.Error, s.Detail)}
	}
	return cli.Table(w, []string{"step", "result", "time", "detail"}, rows)
}
