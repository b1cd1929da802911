//go:build linux

package testscript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// recipe NAME [OLD=>NEW…] writes the Caddyfile of docs/recipes/NAME.md, with its names replaced by
// those of the test. Each must be there: a recipe that changed is looked at again.
func recipe(c *call) error {
	if len(c.args) == 0 {
		return fmt.Errorf("usage: recipe NAME [OLD=>NEW…]")
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "recipes", c.args[0]+".md"))
	if err != nil {
		return err
	}
	_, text, found := strings.Cut(string(page), "\n```caddyfile\n")
	if !found {
		return fmt.Errorf("%s has no block ```caddyfile", c.args[0])
	}
	text, _, _ = strings.Cut(text, "\n```")
	for _, pair := range c.args[1:] {
		name, value, _ := strings.Cut(pair, "=>")
		if !strings.Contains(text, name) {
			return fmt.Errorf("the recipe does not hold %q", name)
		}
		text = strings.ReplaceAll(text, name, value)
	}
	return os.WriteFile(c.ts.MkAbs("Caddyfile"), []byte(text+"\n"), 0o600)
}
