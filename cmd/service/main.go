// Command service is the gateway: Caddy with our stages and the agent runtime, and the commands
// to run, ask and manage it.
//
//	service web start        start in the background with the default configuration
//	service chat "…"         ask the agents
//	service run --config F   Caddy's own commands work too
//
// It guarantees that errors go to stderr with exit code 1, wrong usage ends with 2, and the
// output of commands with --json is one JSON document. One process runs one command; whatever
// may be called while a service runs talks to it over its control socket or reads its files.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	_ "github.com/svc-gateway/svc/caddymodule/auth"
	_ "github.com/svc-gateway/svc/caddymodule/redact"
	_ "github.com/svc-gateway/svc/caddymodule/scan"
	_ "github.com/svc-gateway/svc/caddymodule/stream"
	_ "github.com/svc-gateway/svc/internal/caddyenv" // before Caddy
	"github.com/svc-gateway/svc/internal/settings"
)

func init() {
	caddy.CustomBinaryName = "service"
	caddy.CustomVersion = settings.Version
}

func main() {
	prepareEnvironment(os.Stderr)
	os.Exit(execute(newRoot()))
}

// prepareEnvironment sets what the default Caddyfile takes from the environment, whichever
// command adapts it: the data folder, and no host or port that is set and empty, which would
// count instead of the default.
func prepareEnvironment(w io.Writer) {
	for _, name := range cli.ListenEnv {
		if os.Getenv(name) == "" {
			_ = os.Unsetenv(name)
		}
	}
	home, err := app.LocateHome()
	if err != nil {
		return // whichever command needs it says so
	}
	_ = os.Setenv("SVC_HOME", home.Dir())
	if os.Getenv("HOME") == "" && os.Getenv("XDG_DATA_HOME") == "" {
		fmt.Fprintln(w, "Warning: HOME is not set, so Caddy keeps certificates in the folder caddy of the current one: set HOME or XDG_DATA_HOME")
	}
}
