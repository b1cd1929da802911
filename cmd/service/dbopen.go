package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

// dbOptions are the flags that say which settings of the analytical database hold.
type dbOptions struct{ start startOptions }

func (o *dbOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.start.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json, with the settings of the database")
	cmd.Flags().StringArrayVar(&o.start.set, "set", nil, "a setting, as section.key=value; may be repeated")
}

// run runs f on the database, with the service's writer or with one that ends after f.
func (o *dbOptions) run(cmd *cobra.Command, f func(context.Context, *analytics.DB, recorder) error) error {
	home, err := app.LocateHome()
	if err != nil {
		return err
	}
	if err := home.Create(); err != nil {
		return err
	}
	s, err := o.settings(cmd, home)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d := analytics.Open(analytics.From(s, home))
	if err := d.Use(ctx); err != nil {
		return err
	}
	return errors.Join(f(ctx, d, recorder{home}), d.Close())
}

// settings are those of the flags. Without flags they are those of the service that runs, whatever they
// come from, and when none does those that one would have without flags.
func (o *dbOptions) settings(cmd *cobra.Command, home settings.Home) (settings.Database, error) {
	if len(o.start.args()) == 0 {
		var values []settings.Value
		err := cli.NewClient(home).Do(cmd.Context(), http.MethodGet, "/settings", nil, &values)
		if err == nil {
			return databaseOf(values)
		}
		if !errors.Is(err, cli.ErrNotRunning) {
			return settings.Database{}, err
		}
	}
	s, err := o.start.settings(cmd.ErrOrStderr(), home)
	return s.Database, err
}

// databaseOf takes the section out of what a service says its settings are.
func databaseOf(values []settings.Value) (settings.Database, error) {
	set := map[string]string{}
	for _, v := range values {
		if strings.HasPrefix(v.Key, "database.") && v.Value != "" {
			set[v.Key] = v.Value
		}
	}
	s, _, err := settings.Resolve(settings.Layers{Flags: set})
	if err != nil {
		return settings.Database{}, fmt.Errorf("reading the settings of the running service: %w", err)
	}
	return s.Database, nil
}

// recorder puts what a person does into the audit log: with the service that runs, else itself.
type recorder struct{ home settings.Home }

// record records that something begins, does it, and records how it went. What cannot be recorded is not
// done.
func (r recorder) record(ctx context.Context, action string, input any, do func() (output any, err error)) error {
	in, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("recording what is done: %w", err)
	}
	e := app.DatabaseRecord{Action: action, Status: "started", Input: in}
	if err := r.write(ctx, e); err != nil {
		return fmt.Errorf("nothing was done, because it could not be recorded: %w", err)
	}
	out, doErr := do()
	e.Status = "success"
	if doErr != nil {
		e.Status, e.Error = "error", doErr.Error()
	} else if e.Output, err = json.Marshal(out); err != nil {
		return fmt.Errorf("recording what was done: %w", err)
	}
	if err := r.write(context.WithoutCancel(ctx), e); err != nil {
		return errors.Join(doErr, fmt.Errorf("recording how it went: %w", err))
	}
	return doErr
}

func (r recorder) write(ctx context.Context, e app.DatabaseRecord) error {
	err := cli.NewClient(r.home).Do(ctx, http.MethodPost, app.DatabaseRecords, e, nil)
	if errors.Is(err, cli.ErrNotRunning) {
		err = app.RecordFiles(ctx, r.home, e.Event())
	}
	return err
}
