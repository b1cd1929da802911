package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "web", Short: "Starts and stops the web service",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "web"
			cli.Group(cmd, startCommand(), stopCommand(), reloadCommand(), statusCommand())
		},
	})
}

func startCommand() *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use: "start", Short: "Starts the web service and returns when it answers", Args: cli.Args(cobra.NoArgs),
		Long: `Starts the web service in the background and returns when it answers.

Without --config it serves the built-in Caddyfile on 0.0.0.0:2280. Settings come from --set,
the environment (SVC_<SECTION>_<KEY>), the Caddyfile and config/api.json of the data folder;
service config show prints them.`,
	}
	f := cmd.Flags()
	f.StringVar(&o.host, "host", "", "address to listen on (default 0.0.0.0)")
	f.StringVar(&o.port, "port", "", "port to listen on (default 2280)")
	f.StringVar(&o.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json")
	f.StringArrayVar(&o.set, "set", nil, "a setting, as section.key=value; may be repeated")
	f.BoolVar(&o.autoApprove, "auto-approve", false, "make dangerous calls in runs of admins without asking anybody, as SVC_AUTO_APPROVE=true does; for tests only")
	f.StringVar(&o.sandbox, "sandbox", "", "where run_code runs programs: local, daytona, runloop or modal, as SVC_SANDBOX_PROVIDER does (default local)")
	f.BoolVar(&o.acceptNewAudit, acceptFlag, false, acceptUsage)
	f.BoolVar(&o.foreground, "foreground", false, "stay in the foreground and log to stderr")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		if o.foreground {
			return o.serve(cmd)
		}
		return o.spawn(cmd)
	})
	cli.Group(cmd)
	return cmd
}
