package main

import (
	"maps"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

const about = `A gateway in front of AI agents: who may ask, what may happen, what is recorded.

The data folder is SVC_HOME, else ~/.svc.`

const examples = `  service web start              start in the background
  service web status
  service chat "How full are the disks on this host?"
  service audit query "select tool, decision, status from tool_calls"
  service admin add-user alice --role user
  service web stop`

// newRoot returns the whole command line. Caddy's main has one too, with all commands that are
// registered, and cannot be taught that this program is not Caddy and has exit codes.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use: "service", Long: about, Example: examples, Version: settings.Version,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.ArbitraryArgs,
		RunE: cli.Run(func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Unknown(cmd, args[0])
			}
			return cmd.Help()
		}),
		Annotations: map[string]string{cli.GroupAnnotation: "true"},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(cli.WrongUsage)
	// A command that only holds others has no usage without one of them.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"{{if .Runnable}}", `{{if and .Runnable (not (index .Annotations "`+cli.GroupAnnotation+`"))}}`, 1))
	root.AddGroup(&cobra.Group{ID: "service", Title: "Commands:"}, &cobra.Group{ID: "caddy", Title: "Commands of Caddy:"})

	registered := caddycmd.Commands()
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		root.AddCommand(toCobra(registered[name]))
	}
	root.AddCommand(manpageCommand())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.GroupID == "" {
			c.GroupID = "service"
		}
		if c.Name() == "completion" {
			c.Short = "Writes a script that completes commands in a shell"
			cli.Group(c)
		}
	}
	return root
}

// toCobra makes a cobra command of a registered one, as Caddy's main does.
func toCobra(c caddycmd.Command) *cobra.Command {
	cmd := &cobra.Command{Use: strings.TrimSpace(c.Name + " " + c.Usage), Short: c.Short, Long: strings.TrimSpace(c.Long)}
	if c.CobraFunc != nil {
		c.CobraFunc(cmd)
	} else {
		cmd.RunE = caddycmd.WrapCommandFuncForCobra(c.Func)
		cmd.Flags().AddGoFlagSet(c.Flags)
	}
	if adopted, ok := caddyCommands[c.Name]; ok {
		adopted.adopt(cmd)
	}
	return cmd
}

// helpCommand is cobra's own, except that help about nothing is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Prints the help of a command",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if about, _, err := c.Root().Find(args); err == nil {
				for _, sub := range about.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: cli.Run(func(c *cobra.Command, args []string) error {
			about, left, err := c.Root().Find(args)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			if len(left) > 0 {
				return cli.Unknown(about, left[0])
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		}),
	}
}
