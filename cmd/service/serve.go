package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

// serve runs the service in this process until a signal ends it.
func (o startOptions) serve(cmd *cobra.Command) error {
	home, c, doc, err := o.prepare(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	caddy.TrapSignals()
	if err := load(home, c, doc); err != nil {
		return err
	}
	app.SetReload(o.reload)
	o.remember()
	if s, err := cli.NewClient(home).Status(context.Background()); err == nil {
		announce(cmd.ErrOrStderr(), home, s)
	}
	select {} // Caddy's signal handler ends the process
}

// reload reads the configuration again, as this process was started, and loads it.
func (o startOptions) reload() error {
	doc, err := o.configuration(io.Discard)
	if err != nil {
		return err
	}
	if err := caddy.Load(doc, true); err != nil {
		return err
	}
	o.remember()
	return nil
}

// remember has Caddy call reload on SIGUSR1. It forgets that when something else is loaded with
// service reload.
func (o startOptions) remember() {
	caddy.SetLastConfig(cmp.Or(o.config, builtIn), "", func(string, string) error { return o.reload() })
}

// load starts the configuration in a data folder that is this process's own, on ports that are
// nobody's.
func load(home settings.Home, c settings.Settings, doc []byte) error {
	release, err := app.Claim(home, c)
	if err != nil {
		return err
	}
	defer release()
	adminOnSocket(home)
	if err := checkListen(doc); err != nil {
		return err
	}
	return caddy.Load(doc, true)
}

// adminOnSocket has Caddy's admin API be at the socket of the data folder where the configuration does not say
// where. On Caddy's own port any local user can replace the configuration.
func adminOnSocket(home settings.Home) {
	if os.Getenv("CADDY_ADMIN") == "" {
		caddy.DefaultAdminListen = "unix/" + home.AdminSocket() + "|0600"
	}
}

// announce says where the service is and how to be let in.
func announce(w io.Writer, home settings.Home, s cli.Status) {
	fmt.Fprintf(w, "The service is running, pid %d", s.PID)
	for _, a := range s.Addresses {
		fmt.Fprintf(w, ", on %s", a)
		if r := cli.Reachable(a); r != a {
			fmt.Fprintf(w, " (here: %s)", r)
		}
	}
	fmt.Fprintln(w)
	tokens := slices.Contains(s.AuthMode, settings.ModeToken)
	switch none := slices.Contains(s.AuthMode, settings.ModeNone); {
	case none && len(s.AuthMode) == 1:
		fmt.Fprintln(w, "auth.mode none: svc_auth lets callers on this host act as admins without a token and refuses all others.")
	case none:
		fmt.Fprintln(w, "auth.mode none: svc_auth lets callers on this host who send no credential act as admins.")
	}
	if !tokens {
		return
	}
	if _, err := os.Stat(home.Token()); err == nil {
		fmt.Fprintf(w, "Your token is in %s:  T=$(cat %s)\n", home.Token(), home.Token())
		return
	}
	fmt.Fprintln(w, "Get a token with: service admin add-user NAME --role user")
}
