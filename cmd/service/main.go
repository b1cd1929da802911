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
	"os"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/auth"
	_ "github.com/svc-gateway/svc/caddymodule/redact"
	_ "github.com/svc-gateway/svc/caddymodule/scan"
	_ "github.com/svc-gateway/svc/caddymodule/stream"
	"github.com/svc-gateway/svc/internal/settings"
)

const about = `A gateway in front of AI agents: who may ask, what may happen, what is recorded.

	$ service web start              start in the background
	$ service web status
	$ service chat "How full are the disks on this host?"
	$ service audit query "select tool, decision, status from tool_calls"
	$ service admin add-user alice --role user
	$ service web stop

The data folder is SVC_HOME, else ~/.svc. The other commands are Caddy's own.`

func main() {
	caddy.CustomBinaryName = "service"
	caddy.CustomLongDescription = about
	caddy.CustomVersion = settings.Version
	prepareEnvironment()
	caddycmd.Main()
}

// prepareEnvironment sets what the default Caddyfile takes from the environment, whichever
// command adapts it: the data folder, and no host or port that is set and empty, which would
// count instead of the default.
func prepareEnvironment() {
	for _, name := range []string{"SVC_HOST", "SVC_PORT"} {
		if os.Getenv(name) == "" {
			_ = os.Unsetenv(name)
		}
	}
	if home, err := app.LocateHome(); err == nil {
		_ = os.Setenv("SVC_HOME", home.Dir())
	}
}
