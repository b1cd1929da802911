package commands

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

// options are the flags of commands that read the settings as a start would.
type options struct {
	config string
	set    []string
}

func (o *options) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a setting, as section.key=value; may be repeated")
}

func (o options) given() bool { return o.config != "" || len(o.set) > 0 }

// resolve returns the settings, each with its origin. Warnings go to stderr.
func (o options) resolve(cmd *cobra.Command, home settings.Home) ([]settings.Value, error) {
	values, err := ParseSet(o.set)
	if err != nil {
		return nil, err
	}
	app.SetFlags(values)
	if builtIn != nil && builtIn.Check != nil {
		if err := builtIn.Check(); err != nil {
			return nil, err
		}
	}
	WarnStray(cmd.ErrOrStderr())
	doc, err := Adapt(o.config, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	written, err := app.Sections(doc)
	if err != nil {
		return nil, err
	}
	_, all, err := app.Resolve(home, written)
	return all, err
}

// ParseSet reads the values of flags --set by the keys of the settings.
func ParseSet(set []string) (map[string]string, error) {
	values := map[string]string{}
	for _, s := range set {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, cli.Usagef("--set: %q is not of the form section.key=value", s)
		}
		if err := settings.CheckFlag(key, value); err != nil {
			return nil, cli.Usagef("%w", err)
		}
		values[key] = value
	}
	return values, nil
}

// WarnStray tells of variables that are misspelt, most likely: the service would run without
// what they say, perhaps in mode none.
func WarnStray(w io.Writer) {
	for _, stray := range settings.StrayEnv(os.Environ()) {
		fmt.Fprintf(w, "Warning: %s\n", stray)
	}
}
