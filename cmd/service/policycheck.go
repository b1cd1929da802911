package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "github.com/svc-gateway/svc/agents/api/mcp"
	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/tools"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/cases"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

func policyCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check [FILE…]", Short: "Looks for mistakes in rule files",
		Long: `Looks for mistakes in rule files, together with the rules that are there already: those of the
program and of the files in the data folder. A file with the name of one of these takes its place.
Mistakes end with exit code 1. A name that no agent, tool or category has is a warning.`,
	}
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		e, _, err := loadPolicy(home, args)
		if err != nil {
			return err
		}
		t, err := newTools(home)
		if err != nil {
			return err
		}
		names, err := roster.Names(home.Agents())
		if err != nil {
			return err
		}
		for _, warning := range misspelt(e.Rules(), t, names) {
			fmt.Fprintln(cmd.ErrOrStderr(), "Warning:", warning)
		}
		return listFiles(cmd.OutOrStdout(), e.Rules())
	})
	cli.Group(cmd)
	return cmd
}

func listFiles(out io.Writer, rules []policy.RuleInfo) error {
	var names []string
	count, observed := map[string]int{}, map[string]int{}
	for _, r := range rules {
		if count[r.File]++; count[r.File] == 1 {
			names = append(names, r.File)
		}
		if r.Mode == policy.Observe {
			observed[r.File]++
		}
	}
	for _, name := range names {
		note := ""
		if n := observed[name]; n > 0 {
			note = fmt.Sprintf(", %d of them only observed", n)
		}
		if _, err := fmt.Fprintf(out, "%s: %d rules%s\n", name, count[name], note); err != nil {
			return err
		}
	}
	return nil
}

// misspelt are names in rules that nothing has, so that the rule never applies because of them.
func misspelt(rules []policy.RuleInfo, t *toolbox, agentNames []string) []string {
	categories := []string{
		remote.Category,
		command.Reload, command.Erase, command.Shutdown, command.CriticalProcess, command.RecursiveDeletion, command.RawDiskWrite,
		command.Formatting, command.WriteOutsideRoot, command.RemoteCode, string(scanner.HTTPWrite), string(scanner.DatabaseWrite),
		device.Category, tools.CategoryInventory, mcp.Undeclared,
	}
	var all []string
	for _, r := range rules {
		for _, list := range []struct {
			key         string
			used, known []string
		}{{"agents", r.Agents, append(agentNames, api.Agent)}, {"tools", r.Tools, t.names()}, {"categories", r.Categories, categories}} {
			for _, name := range list.used {
				lent := list.key == "tools" && strings.HasPrefix(name, "mcp_") // the service knows which there are
				if name != policy.Any && !lent && !slices.Contains(list.known, name) {
					all = append(all, fmt.Sprintf("%s:%d: rule %q: match.%s: there is no %q%s",
						r.File, r.Line, r.Name, list.key, name, suggest.DidYouMean(name, list.known)))
				}
			}
		}
	}
	return all
}

func policyTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "test CASES…", Short: "Tests the rules with calls and what is to become of them", Args: cli.Args(cobra.MinimumNArgs(1)),
		Long: `Tests the rules with the calls in files of cases. A case that fails ends with exit code 1.
The tool's own view of the arguments (action, command, paths) is added where a case does not say it.`,
		Example: `  service policy test policies/evening_test.yaml --policy evening.yaml`,
	}
	rules := cmd.Flags().StringArray("policy", nil, "a rule file beside those of the data folder; may be repeated")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		e, _, err := loadPolicy(home, *rules)
		if err != nil {
			return err
		}
		t, err := newTools(home)
		if err != nil {
			return err
		}
		failed, total := 0, 0
		for _, path := range args {
			f, n, err := testFile(cmd.OutOrStdout(), e, t, path)
			if err != nil {
				return err
			}
			failed, total = failed+f, total+n
		}
		if failed > 0 {
			return fmt.Errorf("%d of %d cases failed", failed, total)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d cases passed\n", total)
		return nil
	})
	cli.Group(cmd)
	return cmd
}

func testFile(out io.Writer, e *policy.Engine, t *toolbox, path string) (failed, total int, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, fmt.Errorf("reading cases: %w", err)
	}
	all, err := cases.Parse(path, text)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range all {
		in, err := t.input(c.Call)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: case %q: %w", path, c.Name, err)
		}
		d, in := cases.Decide(e, in, c.Call.Counted)
		wrong := c.Want.Check(d)
		if wrong == "" {
			continue
		}
		failed++
		fmt.Fprintf(out, "FAIL %s: %s\n", c.Name, wrong)
		for _, reason := range append(d.Reasons, e.Because(in, nil)...) {
			fmt.Fprintf(out, "     %s\n", reason)
		}
	}
	return failed, len(all), nil
}
