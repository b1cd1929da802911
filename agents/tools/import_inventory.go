package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/policy"
)

// CategoryInventory is that of calls that change which devices there are, and where they are.
const CategoryInventory = "inventory"

// Inventory is where devices are kept: an [inventory.Table].
type Inventory interface {
	Import(ctx context.Context, devices []inventory.Device) error
	Load(ctx context.Context) (inventory.List, error)
}

// ImportInventory returns the tool import_inventory {path, sha256}, which reads a list of devices from a
// file in the root: see [inventory.Read]. Without sha256 it says what the file holds and what it would
// change. With the hash that it said, it replaces the inventory by the file, if that is still the same.
func ImportInventory(to Inventory, root string, denied ...string) agents.Tool {
	i := importer{workspace{root: root, denied: denied}, to}
	return agents.NewTool(agents.ToolDef{
		Name: "import_inventory",
		Description: "Read a list of network devices from a file of the project (YAML, CSV, or what NetBox gives as JSON or CSV) and make it the inventory, the table inventory of the analytical database. " +
			"First call it with the path alone: it checks the file and says what would change. Then call it with the path and the sha256 that it said. The file is the whole inventory: devices that it does not have are removed.",
		Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root"},` +
			`"sha256":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"That of the file, as the first call said it: import this very file"}},"required":["path"],"additionalProperties":false}`),
		Classify: i.classify,
	}, i.run)
}

type importer struct {
	workspace
	to Inventory
}

func (i importer) classify(args map[string]any) agents.Classification {
	c := agents.Classification{Action: policy.Use}
	if path, err := textArg(args, "path"); err == nil {
		c.Paths = i.paths(path)
		c.Targets = i.pathTargets("path", c.Paths)
	}
	if _, imports := args["sha256"]; imports {
		c.Action, c.Categories, c.Where = policy.Mutate, []string{CategoryInventory}, "on the analytical database, whose table inventory it replaces"
	}
	return c
}

func (i importer) run(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
	path, err := textArg(args, "path")
	if err = errors.Join(known(args, "path", "sha256"), err); err != nil {
		return agents.Result{}, err
	}
	data, err := i.whole(path)
	if err != nil {
		return agents.Result{}, err
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	want, imports := args["sha256"].(string)
	if imports && want != hash {
		return agents.Result{}, fmt.Errorf("%s is not the file any more that was looked at: its sha256 is %s. Look at it again, without sha256", path, hash)
	}
	devices, skipped, err := inventory.Read(path, data)
	if err != nil {
		return agents.Result{}, err
	}
	old, err := i.to.Load(ctx)
	if err != nil && !errors.Is(err, inventory.ErrEmpty) {
		return agents.Result{}, err
	}
	text := inventory.Compare(old, devices)
	if len(skipped) > 0 {
		text += fmt.Sprintf("skipped: %d entries, the first in line %d: %s\n", len(skipped), skipped[0].Line, skipped[0].Why)
	}
	if !imports {
		return agents.Result{Text: text + "nothing is imported yet; the file's sha256 is " + hash + "\n"}, nil
	}
	if err := i.to.Import(ctx, devices); err != nil {
		return agents.Result{}, err
	}
	return agents.Result{Text: "imported\n" + text}, nil
}

// whole reads a file in the root.
func (i importer) whole(path string) ([]byte, error) {
	t, err := i.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Close() }()
	f, _, err := t.openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, inventory.MaxAsked+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(data) > inventory.MaxAsked {
		return nil, fmt.Errorf("%s has more than %d MiB: split it, or have somebody import it with service inventory import", path, inventory.MaxAsked>>20)
	}
	return data, nil
}
