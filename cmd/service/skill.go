package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/audit"
	agentsmodule "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/internal/settings"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "skill", Short: "Lists, checks, adds, approves and removes the skills of agents",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "skill"
			cmd.Long = `Works with the skills of agents: folders with an instruction (SKILL.md), files that it refers to and
scripts that are tools. They use the control socket of the running service, or the files if it does not
run. Run them as root or as the service's user.`
			cli.Group(cmd, skillListCommand(), skillCheckCommand(), skillAddCommand(), skillApproveCommand(), skillRemoveCommand())
		},
	})
}

func skillListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "Lists the skills, and what has changed in them", Args: cli.Args(cobra.NoArgs),
		Long: `Lists the skills of the data folder. A skill is used only if it is active: new ones were never approved,
and changed ones are not what was approved.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		all, err := listSkills(cmd.Context(), home)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), all)
		}
		rows := make([][]string, len(all))
		for i, v := range all {
			rows[i] = []string{v.Name, string(v.State), v.Hash[:min(len(v.Hash), 12)], strings.Join(v.Agents, ", "), ask.Reveal(v.Description)}
		}
		if err := cli.Table(cmd.OutOrStdout(), []string{"skill", "state", "sha256", "agents", "description"}, rows); err != nil {
			return err
		}
		for _, v := range all {
			tellSkill(cmd.ErrOrStderr(), v)
		}
		return nil
	})
	cli.Group(cmd)
	return cmd
}

// tellSkill says why a skill is not used, and what to do.
func tellSkill(w io.Writer, v skill.View) {
	name := ask.Reveal(v.Name)
	switch v.State {
	case skill.New:
		fmt.Fprintf(w, "%s is not used, because nobody has approved it: look at it, and run service skill approve %s --sha256 %s\n", name, name, v.Hash)
	case skill.Changed:
		used := "is not used"
		if v.InUse != "" {
			used = "is not used after the next start or reload; until then the service works with what it has in memory"
		}
		fmt.Fprintf(w, "%s %s. It is not what was approved: %s. Look at it, and run service skill approve %s --sha256 %s\n", name, used, diff(v.Changes), name, v.Hash)
	case skill.Missing:
		fmt.Fprintf(w, "%s was approved and is not there: add it again, or run service skill remove %s\n", name, name)
	case skill.Refused:
		fmt.Fprintf(w, "%s is not used:\n", name)
		for _, m := range v.Mistakes {
			fmt.Fprintf(w, "  %s\n", ask.Reveal(m))
		}
	case skill.Active:
	}
}

// diff is a summary of changes.
func diff(all []skill.Change) string {
	const most = 10
	var parts []string
	for _, c := range all[:min(len(all), most)] {
		parts = append(parts, ask.Reveal(c.Path)+" "+c.Was)
	}
	if more := len(all) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// listSkills asks the running service, or else reads the data folder.
func listSkills(ctx context.Context, home settings.Home) ([]skill.View, error) {
	var all []skill.View
	err := cli.NewClient(home).Do(ctx, http.MethodGet, "/skills", nil, &all)
	if !errors.Is(err, cli.ErrNotRunning) {
		return all, err
	}
	store, named, err := openSkills(home)
	if err != nil {
		return nil, err
	}
	return viewsOf(store, named)
}

func viewsOf(store skill.Store, named map[string][]string) ([]skill.View, error) {
	set, err := store.Read()
	all := []skill.View{}
	for _, e := range set.All {
		all = append(all, e.View(named))
	}
	return all, err
}

// openSkills opens the skills of a data folder, and says which agents name them.
func openSkills(home settings.Home) (skill.Store, map[string][]string, error) {
	t, err := newTools(home)
	if err != nil {
		return skill.Store{}, nil, err
	}
	store, err := agentsmodule.SkillStore(home, t.own)
	if err != nil {
		return store, nil, err
	}
	named, err := roster.Skills(home.Agents())
	return store, named, err
}

func skillCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "check [PATH…]", Short: "Looks for mistakes and injections in skills",
		Long: `Looks for mistakes and injections in folders and archives (.zip, .tar.gz, .tgz) that are to become
skills, or in the skills of the data folder. Nothing is added or run. Mistakes end with exit code 1, and so
does a skill of the data folder that is not active.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		store, named, err := openSkills(home)
		if err != nil {
			return err
		}
		all, err := checkSkills(store, named, args)
		if err != nil {
			return err
		}
		bad := 0
		for _, v := range all {
			if v.State != skill.Active && (len(args) == 0 || v.State != skill.New) {
				bad++
			}
			if !*asJSON {
				showChecked(cmd, v, len(args) == 0)
			}
		}
		switch {
		case *asJSON:
			err = cli.JSON(cmd.OutOrStdout(), all)
		case len(all) == 0:
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "There are no skills.")
		}
		if bad > 0 {
			err = errors.Join(err, fmt.Errorf("%d of %d skills cannot be used", bad, len(all)))
		}
		return err
	})
	cli.Group(cmd)
	return cmd
}

// checkSkills looks at the skills at paths, or at those that there are.
func checkSkills(store skill.Store, named map[string][]string, paths []string) ([]skill.View, error) {
	if len(paths) == 0 {
		return viewsOf(store, named)
	}
	all := []skill.View{}
	for _, path := range paths {
		e := skill.Entry{Name: filepath.Base(path), State: skill.New}
		files, err := skill.Open(path)
		if err == nil {
			e.Skill, err = skill.Parse(path, files, store.Known)
		}
		if err != nil {
			e.State, e.Err = skill.Refused, err
		} else {
			e.Name = e.Skill.Name
		}
		all = append(all, e.View(named))
	}
	return all, nil
}

func showChecked(cmd *cobra.Command, v skill.View, installed bool) {
	if v.State == skill.Refused || installed && v.State != skill.Active {
		tellSkill(cmd.ErrOrStderr(), v)
		return
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is good: %s, %d bytes\nsha256 %s\n", ask.Reveal(v.Name), counted(int64(v.Files), "file"), v.Bytes, v.Hash)
	showTools(cmd.OutOrStdout(), v)
}

func skillAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add PATH", Short: "Adds a skill from a folder or an archive, and approves it", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Adds a skill from a folder or an archive (.zip, .tar.gz, .tgz) to the data folder, and approves it: its
files are pinned by their hash. Look at it first: agents are told what it says, and its scripts are run. The
running service has it at once, for runs that start or go on from then.`,
		Example: `  service skill check ./log-summary
  service skill add ./log-summary
  service skill add --replace log-summary.tar.gz`,
	}
	replace := cmd.Flags().Bool("replace", false, "take the place of a skill with the same name")
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		files, err := skill.Open(args[0])
		if err != nil {
			return err
		}
		v, running, err := changeSkill(cmd.Context(), agentsmodule.AddSkill, agentsmodule.SkillRequest{Files: files, Replace: *replace})
		if err == nil {
			err = tellChange(cmd.OutOrStdout(), v, "added", running, *asJSON)
		}
		return err
	})
	cli.Group(cmd)
	return cmd
}

func skillRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Removes a skill with its files", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Removes a skill from the data folder, with its files. If an agent of yours names it in its AGENT.md, the
skill stays, because without it the agent would be refused.`,
	}
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		v, running, err := changeSkill(cmd.Context(), agentsmodule.RemoveSkill, agentsmodule.SkillRequest{Name: args[0]})
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.JSON(cmd.OutOrStdout(), v)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s was removed%s.\n", v.Name, when(running))
		return nil
	})
	cli.Group(cmd)
	return cmd
}

// when says since when a change counts.
func when(running bool) string {
	if running {
		return ", and the running service works with that"
	}
	return ", for the next start of the service"
}

// tellChange says that a skill was changed, who has it now, what it can run, and how it differs from what was
// approved before.
func tellChange(w io.Writer, v skill.View, how string, running, asJSON bool) error {
	if asJSON {
		return cli.JSON(w, v)
	}
	fmt.Fprintf(w, "%s was %s%s.\nsha256 %s\n", v.Name, how, when(running), v.Hash)
	if len(v.Agents) == 0 {
		fmt.Fprintf(w, "No agent has it: name it under skills in an AGENT.md, or an agent in the skill.\n")
	} else {
		fmt.Fprintf(w, "agents %s\n", strings.Join(v.Agents, ", "))
	}
	showTools(w, v)
	if len(v.Changes) > 0 {
		fmt.Fprintf(w, "changes %s\n", diff(v.Changes))
	}
	return nil
}

func showTools(w io.Writer, v skill.View) {
	for _, t := range v.Tools {
		fmt.Fprintf(w, "tool %s (%s), runs %s in the sandbox\n", t.Name, t.Action, ask.Reveal(t.Script))
	}
}

// changeSkill has the running service make a change, or makes it in the files where none runs.
func changeSkill(ctx context.Context, c agentsmodule.SkillChange, r agentsmodule.SkillRequest) (v skill.View, running bool, err error) {
	home, err := app.LocateHome()
	if err != nil {
		return v, false, err
	}
	err = cli.NewClient(home).Do(ctx, http.MethodPost, "/skills/"+string(c), r, &v)
	if !errors.Is(err, cli.ErrNotRunning) {
		return v, true, err
	}
	store, named, err := openSkills(home)
	if err != nil {
		return v, false, err
	}
	err = app.ChangeFiles(ctx, home, r.Event(c), func(by string, end *audit.Event) error {
		e, err := r.Make(c, store, home.Agents(), by)
		v = e.View(named)
		if text, encoding := json.Marshal(v); encoding == nil {
			end.Output = string(text)
		}
		return err
	})
	return v, false, err
}
