package caddytest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile" // the adapter
	"github.com/google/go-cmp/cmp"
)

// separator stands between the Caddyfile and what comes of it, as in Caddy's own tests.
const separator = "----------\n"

// Update is the flag -update: write what comes out into the golden files.
var Update = flag.Bool("update", false, "write what comes out into the golden files")

// Golden adapts the Caddyfile of every file testdata/*.caddyfiletest and compares the handler it
// makes, or the error, with what the file says below the separator. A file whose expectation is
// JSON is the first handler of the first route, any other the text of the error. The flag -update writes the expectations anew.
func Golden(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, ok := strings.Cut(string(text), separator)
			if !ok {
				t.Fatalf("%s has no line %q", file, separator)
			}
			got := adapt(t, input)
			if *Update {
				if err := os.WriteFile(file, []byte(input+separator+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
				t.Errorf("%s (-want +got):\n%s", file, d)
			}
		})
	}
}

// adapt returns the first handler as indented JSON, or the error.
func adapt(t *testing.T, caddyfile string) string {
	t.Helper()
	out, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err.Error()
	}
	var doc struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					Routes []struct {
						Handle []json.RawMessage `json:"handle"`
					} `json:"routes"`
				} `json:"servers"`
			} `json:"http"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, doc.Apps.HTTP.Servers["srv0"].Routes[0].Handle[0], "", "\t"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
