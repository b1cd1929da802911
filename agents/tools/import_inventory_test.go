package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/inventory"
)

// devices is an inventory in memory.
type devices struct{ list inventory.List }

func (d *devices) Import(_ context.Context, list []inventory.Device) error {
	d.list = list
	return nil
}

func (d *devices) Load(context.Context) (inventory.List, error) { return d.list, nil }

// What an import changes is among the arguments that people are shown, and nobody can write it there.
func TestImportsAreShown(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "devices.yaml")
	if err := os.WriteFile(file, []byte("- {name: edge1, address: 203.0.113.66, platform: ios}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := &devices{inventory.List{{Name: "edge1", Address: "10.0.0.1", Port: 22, Platform: "ios"}}}
	tool := importer{workspace{root: root}, to}
	args := map[string]any{"path": "devices.yaml"}
	hash := sumOf(t, ran(t, tool, args))
	args["sha256"] = hash

	whole := expanded(t, tool, args)
	const changes = "1 devices: 0 new, 1 changed, 0 removed\nchanged edge1 (address 10.0.0.1:22 to 203.0.113.66:22)\n"
	if whole["changes"] != changes {
		t.Fatalf("got %q, want %q", whole["changes"], changes)
	}
	if again := expanded(t, tool, whole); again["changes"] != changes {
		t.Errorf("asked again: got %q", again["changes"])
	}

	for name, tc := range map[string]struct {
		args map[string]any
		want string
	}{
		"forged":         {map[string]any{"path": "devices.yaml", "sha256": hash, "changes": "nothing"}, "would change something else"},
		"for a look":     {map[string]any{"path": "devices.yaml", "changes": changes}, "leave it out"},
		"another file":   {map[string]any{"path": "devices.yaml", "sha256": strings.Repeat("0", 64)}, "is not the file any more"},
		"no file":        {map[string]any{"path": "none.yaml", "sha256": hash}, "none.yaml"},
		"outside":        {map[string]any{"path": "/etc/hosts", "sha256": hash}, "/etc/hosts"},
		"not of a file":  {map[string]any{"path": ".", "sha256": hash}, "."},
		"without a path": {map[string]any{"sha256": hash}, "path"},
	} {
		if _, err := tool.expand(agents.ToolContext{}, tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}

	// somebody else imports in between
	was := to.list
	to.list = inventory.List{{Name: "edge1", Address: "10.0.0.2", Port: 22, Platform: "ios"}}
	if _, err := tool.expand(agents.ToolContext{}, whole); err == nil {
		t.Error("what is approved is not what is changed")
	}
	if _, err := tool.run(t.Context(), agents.ToolContext{}, whole); err == nil || to.list[0].Address != "10.0.0.2" {
		t.Errorf("got %v, and the inventory %v", err, to.list)
	}
	to.list = was
	if got := ran(t, tool, whole); got != "imported\n"+changes || to.list[0].Address != "203.0.113.66" {
		t.Errorf("got %q, and the inventory %v", got, to.list)
	}
}

// Nobody is asked about more than can be shown, and who wants to import it is told what to do.
func TestImportsThatAreTooLarge(t *testing.T) {
	root := t.TempDir()
	var list strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&list, "- {name: edge%d, address: 203.0.113.66, platform: ios, groups: [core, datacenter]}\n", i)
	}
	if err := os.WriteFile(filepath.Join(root, "devices.yaml"), []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	to := &devices{}
	tool := importer{workspace{root: root}, to}
	sum := sha256.Sum256([]byte(list.String()))
	args := map[string]any{"path": "devices.yaml", "sha256": hex.EncodeToString(sum[:])}
	const want = "1200 devices: 1200 new, 0 changed, 0 removed: they are more than one question can show"
	if _, err := tool.expand(agents.ToolContext{}, args); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("asked: got %v, want %q", err, want)
	}
	if _, err := tool.run(t.Context(), agents.ToolContext{}, args); err == nil || to.list != nil {
		t.Errorf("imported: got %v and %d devices", err, len(to.list))
	}
	delete(args, "sha256")
	if _, err := tool.run(t.Context(), agents.ToolContext{}, args); err == nil || !strings.Contains(err.Error(), "service inventory diff FILE") {
		t.Errorf("looked at: got %v", err)
	}
}

func expanded(t *testing.T, i importer, args map[string]any) (whole map[string]any) {
	t.Helper()
	doc, err := i.expand(agents.ToolContext{}, args)
	if err == nil {
		err = json.Unmarshal(doc, &whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func sumOf(t *testing.T, said string) string {
	t.Helper()
	m := regexp.MustCompile(`sha256 is ([0-9a-f]{64})`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no hash in %q", said)
	}
	return m[1]
}

func ran(t *testing.T, i importer, args map[string]any) string {
	t.Helper()
	res, err := i.run(t.Context(), agents.ToolContext{}, args)
	if err != nil {
		t.Fatal(err)
	}
	return res.Text
}
