package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/files"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "policy", Short: "Checks, explains, tests, replays and applies the rules on tool calls",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "policy"
			cmd.Long = `Works with the rules on tool calls: those that are part of the program, and the rule files in the
folder policies of the data folder. Only apply needs a running service.`
			cli.Group(cmd, policyCheckCommand(), policyShowCommand(), policyExplainCommand(), policyTestCommand(),
				policyReplayCommand(), policyApplyCommand())
		},
	})
}

// loadPolicy is the policy of the data folder with more files. One with the name of a file in the
// folder takes its place: it is probably the next version.
func loadPolicy(home settings.Home, paths []string) (*policy.Engine, []policy.Source, error) {
	sources, err := files.Read(home.Policies())
	if err != nil {
		return nil, nil, err
	}
	for _, path := range paths {
		s, err := files.One(path)
		if err != nil {
			return nil, nil, err
		}
		sources = withSource(sources, s)
	}
	e, err := policy.New(sources...)
	return e, sources, err
}

func withSource(sources []policy.Source, s policy.Source) []policy.Source {
	for i := range sources {
		if filepath.Base(sources[i].Name) == filepath.Base(s.Name) {
			sources[i] = s
			return sources
		}
	}
	return append(sources, s)
}

func policyShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Prints the rule files, those of the program first", Args: cli.Args(cobra.NoArgs),
		Long: `Prints the rule file that is part of the program and the rule files of the data folder, as they are.
With --running it lists the rules that the running service decides with.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document with the rules")
	running := cmd.Flags().Bool("running", false, "ask the running service")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if *running {
			var p cli.Policy
			if err := cli.NewClient(home).Do(cmd.Context(), http.MethodGet, "/policy", nil, &p); err != nil {
				return err
			}
			return showRules(out, p, *asJSON)
		}
		e, sources, err := loadPolicy(home, nil)
		if err != nil {
			return err
		}
		if *asJSON {
			return showRules(out, cli.Policy{Hash: e.Hash(), Rules: e.Rules()}, true)
		}
		for _, s := range append([]policy.Source{policy.Builtin()}, sources...) {
			if _, err := fmt.Fprintf(out, "# ---- %s\n%s\n", s.Name, s.Text); err != nil {
				return err
			}
		}
		return nil
	})
	cli.Group(cmd)
	return cmd
}

func showRules(out io.Writer, p cli.Policy, asJSON bool) error {
	if asJSON {
		return cli.JSON(out, p)
	}
	rows := make([][]string, len(p.Rules))
	for i, r := range p.Rules {
		rows[i] = []string{r.Name, string(r.Effect), string(r.Mode), fmt.Sprintf("%s:%d", r.File, r.Line), r.Message}
	}
	if err := cli.Table(out, []string{"rule", "effect", "mode", "file", "message"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "Policy %s\n", p.Hash)
	return err
}

func policyApplyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply", Short: "Has the running service read the rule files again", Args: cli.Args(cobra.NoArgs),
		Long: `Has the running service read the rule files of the data folder again. Runs that start from then on
have the new rules; a run that is under way keeps the ones it started with, unless --now is given.
When a file has a mistake, nothing changes. The change is recorded in the audit log.`,
	}
	now := cmd.Flags().Bool("now", false, "also for runs that are under way")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		var c cli.PolicyChange
		err = cli.NewClient(home).Do(cmd.Context(), http.MethodPost, "/policy/apply", map[string]bool{"now": *now}, &c)
		if errors.Is(err, cli.ErrNotRunning) {
			return fmt.Errorf("%w: it reads the rule files when it starts", err)
		}
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if *asJSON {
			return cli.JSON(out, c)
		}
		own := 0
		for _, r := range c.Rules {
			if !r.Builtin {
				own++
			}
		}
		who := "runs that start from now on"
		if *now {
			who = "all runs, those under way included"
		}
		if c.Old == c.New {
			fmt.Fprint(out, "The rules have not changed. ")
		}
		fmt.Fprintf(out, "%d rules of your own and %d of the program count for %s.\nPolicy %s, before %s\n", own, len(c.Rules)-own, who, c.New, c.Old)
		return nil
	})
	cli.Group(cmd)
	return cmd
}
