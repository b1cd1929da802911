//go:build linux

package testscript

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// recipe writes the Caddyfile of docs/recipes/NAME.md, with its names replaced by those of the
// test. Each must be there: a recipe that changed is looked at again. -global adds a global option.
func recipe(c *call) error {
	f := flag.NewFlagSet("recipe", flag.ContinueOnError)
	f.SetOutput(&c.err)
	global := f.String("global", "", "a global option to add")
	if err := f.Parse(c.args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return errors.New("usage: recipe [-global LINE] NAME [OLD=>NEW…]")
	}
	name := f.Arg(0)
	page, err := os.ReadFile(filepath.Join("..", "docs", "recipes", name+".md"))
	if err != nil {
		return err
	}
	_, text, found := strings.Cut(string(page), "\n```caddyfile\n")
	if !found {
		return fmt.Errorf("%s has no block ```caddyfile", name)
	}
	text, _, _ = strings.Cut(text, "\n```")
	if formatted := string(caddyfile.Format([]byte(text + "\n"))); formatted != text+"\n" {
		return fmt.Errorf("%s is not as caddy fmt writes it:\n%s", name, formatted)
	}
	for _, pair := range f.Args()[1:] {
		old, value, _ := strings.Cut(pair, "=>")
		if !strings.Contains(text, old) {
			return fmt.Errorf("the recipe does not hold %q", old)
		}
		text = strings.ReplaceAll(text, old, value)
	}
	text = strings.Replace(text, "{\n", "{\n"+*global+"\n", 1)
	return os.WriteFile(c.ts.MkAbs("Caddyfile"), []byte(text+"\n"), 0o600)
}
