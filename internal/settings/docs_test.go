package settings

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/")

// A table in docs/ stands between these two lines; the word is "options", "lists" or
// the key of a list.
var tables = regexp.MustCompile(`(?s)<!-- settings: (\w+) -->\n.*?<!-- end of settings -->`)

// TestDocs holds the tables of settings in docs/ to what the program knows.
func TestDocs(t *testing.T) {
	want := map[string]string{
		"options": markdown("setting", options),
		"lists":   "| list | block in a Caddyfile | what it is |\n|---|---|---|\n",
	}
	for _, l := range lists {
		described := l.(interface{ describe() (doc, table string) })
		doc, table := described.describe()
		want["lists"] += fmt.Sprintf("| `%s` | `%s NAME { … }` | %s |\n", l.Key(), l.Block(), doc)
		want[l.Key()] = table
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		written := tables.ReplaceAllStringFunc(string(text), func(old string) string {
			name := tables.FindStringSubmatch(old)[1]
			seen = append(seen, name)
			return fmt.Sprintf("<!-- settings: %s -->\n\n%s\n<!-- end of settings -->", name, want[name])
		})
		if written == string(text) {
			continue
		}
		if !*update {
			t.Errorf("%s: a table of settings is out of date: run go test ./internal/settings -update", page)
		} else if err := os.WriteFile(page, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name := range want {
		if !slices.Contains(seen, name) {
			t.Errorf("docs/ has no table of %s: write the lines <!-- settings: %[1]s --> and <!-- end of settings --> where it belongs", name)
		}
	}
}

func (o *objects[T]) describe() (doc, table string) { return o.doc, markdown("field", o.all()) }

func markdown[T any](what string, fields []field[T]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | default | value | meaning |\n|---|---|---|---|\n", what)
	for _, f := range fields {
		def := "–"
		switch {
		case f.def != "":
			def = "`" + strings.ReplaceAll(f.def, "|", `\|`) + "`"
		case f.missing != "":
			def = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, def, f.form, f.doc)
	}
	return b.String()
}
