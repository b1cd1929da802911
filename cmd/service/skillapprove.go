package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/skill"
	agentsmodule "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

func skillApproveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve NAME", Short: "Approves a skill as it is now", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Approves a skill of the data folder that is new or has changed. With --sha256 only what has this hash is
approved: give that of what you have looked at, as list prints it. Without it the command shows what there is
to approve, and asks; what changes while it asks is not approved.`,
		Example: `  service skill list
  service skill approve notes --sha256 48826d…  # all 64 digits, as list prints them`,
	}
	hash := cmd.Flags().String("sha256", "", "approve only what has this hash, without asking")
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		looked := *hash
		switch {
		case !cmd.Flags().Changed("sha256"):
			var err error
			if looked, err = askSkill(cmd, args[0]); err != nil {
				return err
			}
		case len(looked) != hex.EncodedLen(sha256.Size):
			return cli.Usagef("--sha256: %q is no whole hash, which has 64 digits: service skill list prints it where there is something to approve", looked)
		}
		v, running, err := changeSkill(cmd.Context(), agentsmodule.ApproveSkill, agentsmodule.SkillRequest{Name: args[0], Hash: looked})
		if err == nil {
			err = tellChange(cmd.OutOrStdout(), v, "approved", running, *asJSON)
		}
		return err
	})
	cli.Group(cmd)
	return cmd
}

// askSkill shows what there is to approve of a skill and returns its hash if that is wanted. What cannot be
// approved is not asked about.
func askSkill(cmd *cobra.Command, name string) (hash string, err error) {
	v, folder, err := findSkill(cmd.Context(), name)
	if err != nil || v.State != skill.New && v.State != skill.Changed {
		return v.Hash, err
	}
	w := cmd.ErrOrStderr()
	fmt.Fprintf(w, "%s is %s: %s, %d bytes, in %s\nsha256 %s\n", v.Name, v.State, counted(int64(v.Files), "file"), v.Bytes, ask.Reveal(folder), v.Hash)
	showTools(w, v)
	for _, c := range v.Changes {
		fmt.Fprintf(w, "%s %s\n", ask.Reveal(c.Path), c.Was)
	}
	fmt.Fprint(w, "Have you looked at it, and are agents to use it? [y/N] ")
	answer, err := cli.Line(cmd.InOrStdin(), 100, "answer")
	if answer = strings.ToLower(answer); err == nil && (answer == "y" || answer == "yes") {
		return v.Hash, nil
	}
	fmt.Fprintln(w)
	return "", errors.Join(fmt.Errorf("nothing is approved: look at it, and answer y, or run service skill approve %s --sha256 %s", v.Name, v.Hash), err)
}

// findSkill is a skill as it is now, and its folder. One that there is not is for the change to tell.
func findSkill(ctx context.Context, name string) (v skill.View, folder string, err error) {
	home, err := app.LocateHome()
	if err != nil {
		return v, "", err
	}
	all, err := listSkills(ctx, home)
	if i := slices.IndexFunc(all, func(v skill.View) bool { return v.Name == name }); i >= 0 {
		v = all[i]
	}
	return v, filepath.Join(home.Skills(), v.Name), err
}
