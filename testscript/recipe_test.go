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
// test. -global adds a global option.
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
	if text, err = replaced(text, f.Args()[1:]); err != nil {
		return err
	}
	text = strings.Replace(text, "{\n", "{\n"+*global+"\n", 1)
	return os.WriteFile(c.ts.MkAbs("Caddyfile"), []byte(text+"\n"), 0o600)
}

// example writes the JSON document below a heading of docs/json.md, with names replaced as recipe does.
func example(c *call) error {
	if len(c.args) < 2 {
		return errors.New("usage: example HEADING FILE [OLD=>NEW…]")
	}
	page, err := os.ReadFile("../docs/json.md")
	if err != nil {
		return err
	}
	_, text, found := strings.Cut(string(page), "\n## "+c.args[0]+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	_, text, shown := strings.Cut(text, "\n```json\n")
	text, _, _ = strings.Cut(text, "\n```")
	if !found || !shown {
		return fmt.Errorf("docs/json.md has no heading %q with a block ```json", c.args[0])
	}
	if text, err = replaced(text, c.args[2:]); err != nil {
		return err
	}
	return os.WriteFile(c.ts.MkAbs(c.args[1]), []byte(text+"\n"), 0o600)
}

// replaced replaces names in what a page of docs/ shows. Each must be there: a page that changed is
// looked at again.
func replaced(text string, pairs []string) (string, error) {
	for _, pair := range pairs {
		old, value, _ := strings.Cut(pair, "=>")
		if !strings.Contains(text, old) {
			return "", fmt.Errorf("the page does not hold %q", old)
		}
		text = strings.ReplaceAll(text, old, value)
	}
	return text, nil
}
