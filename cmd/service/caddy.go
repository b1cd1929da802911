package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// caddyCommand is what has to be known of a command of Caddy's to make it one of this program.
type caddyCommand struct {
	arguments cobra.PositionalArgs // default: none
	required  map[string]string    // flags that must be given, by the subcommand that has them, "" for the command itself
	oneOf     map[string][]string  // flags that have one of these values
	long      string               // what to say of it, if not what Caddy says
	refused   string               // why it does not work here
	extend    func(*cobra.Command) // adds what is ours to it
}

// caddyCommands are Caddy's own commands; all others are ours.
var caddyCommands = map[string]caddyCommand{
	"adapt":          {},
	"add-package":    {refused: replaces},
	"build-info":     {},
	"environ":        {},
	"file-server":    {},
	"fmt":            {arguments: cobra.MaximumNArgs(1)},
	"hash-password":  {oneOf: map[string][]string{"algorithm": {"argon2id", "bcrypt"}}},
	"list-modules":   {},
	"reload":         {extend: keepListening},
	"remove-package": {refused: replaces},
	"respond":        {arguments: cobra.MaximumNArgs(1)},
	"reverse-proxy":  {required: map[string]string{"": "to"}},
	"run":            {extend: func(cmd *cobra.Command) { acceptNewAudit(cmd); reloadable(cmd) }},
	"start":          {},
	"stop":           {},
	"storage":        {required: map[string]string{"export": "output", "import": "input"}},
	"trust":          {},
	"untrust":        {},
	"upgrade":        {refused: replaces},
	"validate":       {},
	"version":        {long: "Prints the version of the service."},
}

const replaces = "it would replace this program by one from Caddy's build service, which has none of the modules of the service: install a release of the service instead"

const caddyFooter = `
This is a command of Caddy. Its documentation is at
https://caddyserver.com/docs/command-line
`

// adopt makes a command of Caddy's one of this program.
func (c caddyCommand) adopt(cmd *cobra.Command) {
	cmd.GroupID = "caddy"
	cmd.SetHelpTemplate(cmd.HelpTemplate() + caddyFooter)
	if c.long != "" {
		cmd.Long = c.long
	}
	if c.refused != "" {
		cmd.Hidden, cmd.DisableFlagParsing = true, true
		cmd.Long = fmt.Sprintf("service %s does not work: %s.", cmd.Name(), c.refused)
		cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("%s does not work here: %s", cmd.CommandPath(), c.refused)
		})
		return
	}
	if c.arguments == nil {
		c.arguments = cobra.NoArgs
	}
	c.prepare(cmd, "")
	if c.extend != nil {
		c.extend(cmd)
	}
	for _, sub := range cmd.Commands() {
		c.prepare(sub, sub.Name())
	}
	cli.Group(cmd)
}

// prepare sets up the command itself or a subcommand.
func (c caddyCommand) prepare(cmd *cobra.Command, sub string) {
	cmd.DisableFlagsInUseLine = true // the usage names them
	cmd.Long, cmd.Example = cli.Named(strings.TrimSpace(cmd.Long)), cli.Named(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = cli.Named(f.Usage) })
	if cmd.RunE == nil {
		return
	}
	cmd.Args = cli.Args(c.arguments)
	cmd.PreRunE = cli.Run(func(cmd *cobra.Command, _ []string) error { return c.check(cmd, c.required[sub]) })
}

// acceptNewAudit adds the flag that web start has to run.
func acceptNewAudit(cmd *cobra.Command) {
	accept := cmd.Flags().Bool(acceptFlag, false, acceptUsage)
	before(cmd, func(*cobra.Command) error {
		if *accept {
			app.AcceptNewAudit()
		}
		return nil
	})
}

// before has f called when the command line of cmd has been checked, before cmd runs.
func before(cmd *cobra.Command, f func(*cobra.Command) error) {
	check, prepare := cmd.PreRunE, cli.Run(func(cmd *cobra.Command, _ []string) error { return f(cmd) })
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err // it has been told
		}
		return prepare(cmd, args)
	}
}

// check looks at what Caddy would take for an error of a command that runs.
func (c caddyCommand) check(cmd *cobra.Command, required string) error {
	if required != "" && !cmd.Flags().Changed(required) {
		return cli.Usagef("--%s is missing", required)
	}
	for flag, values := range c.oneOf {
		if f := cmd.Flags().Lookup(flag); f != nil && !slices.Contains(values, f.Value.String()) {
			return cli.Usagef("--%s: %q is not one of %s", flag, f.Value, strings.Join(values, " and "))
		}
	}
	if f := cmd.Flags().Lookup("adapter"); f != nil && f.Value.String() != "" && caddyconfig.GetAdapter(f.Value.String()) == nil {
		return cli.Usagef("--adapter: there is no adapter %q; caddyfile is one", f.Value)
	}
	return nil
}
