package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

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

// maxChanges bounds what one question may show of changes, in bytes. Nobody is asked about more.
const maxChanges = 60_000

// maxLooking bounds the look at the file and the table before anything is decided.
const maxLooking = 10 * time.Second

// ImportInventory returns the tool import_inventory {path, sha256, changes}, which reads a list of devices from
// a file in the root: see [inventory.Read]. Without sha256 it says what the file holds and what it would
// change. With the hash that it said, it replaces the inventory by the file. What that changes is put into
// the arguments, so that people see and approve it; nothing is imported when it is something else by then, or
// too much to be shown.
func ImportInventory(to Inventory, root string, denied ...string) agents.Tool {
	i := importer{workspace{root: root, denied: denied}, to}
	return agents.NewTool(agents.ToolDef{
		Name: "import_inventory",
		Description: "Read a list of network devices from a file of the project (YAML, CSV, or what NetBox gives as JSON or CSV) and make it the inventory, the table inventory of the analytical database. " +
			"First call it with the path alone: it checks the file and says what would change. Then call it with the path and the sha256 that it said. The file is the whole inventory: devices that it does not have are removed.",
		Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root"},` +
			`"sha256":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"That of the file, as the first call said it: import this very file"},` +
			`"changes":{"type":"string","description":"Leave it out: it is filled in, for who approves the import"}},"required":["path"],"additionalProperties":false}`),
		Expand: i.expand, Classify: i.classify,
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

// expand puts what an import changes into its arguments. What somebody else wrote there has to be the same.
func (i importer) expand(_ agents.ToolContext, args map[string]any) ([]byte, error) {
	given, told := args["changes"].(string)
	if _, imports := args["sha256"]; !imports {
		if told {
			return nil, errors.New("changes: it says what an import changes: leave it out")
		}
		return json.Marshal(args)
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxLooking)
	defer cancel()
	l, err := i.look(ctx, args)
	if err == nil {
		err = l.showable()
	}
	if err != nil {
		return nil, err
	}
	if told && given != l.changes {
		return nil, errOther
	}
	whole := maps.Clone(args)
	whole["changes"] = l.changes
	return json.Marshal(whole)
}

var errOther = errors.New("changes: the import would change something else now: look at the file again, with the path alone")

// looked is a file with devices, and what it changes in the inventory.
type looked struct {
	devices       inventory.List
	hash, changes string
}

// showable is the error of changes that are more than a person can be shown.
func (l looked) showable() error {
	if len(l.changes) <= maxChanges {
		return nil
	}
	devices, _, _ := strings.Cut(l.changes, "\n")
	return fmt.Errorf("%s: they are more than one question can show (%d KiB, of %d KiB at most): have somebody look at them with service inventory diff FILE, and import them with service inventory import FILE",
		devices, len(l.changes)>>10, maxChanges>>10)
}

// look reads the file, which has to be the one of the hash if there is one in the arguments.
func (i importer) look(ctx context.Context, args map[string]any) (looked, error) {
	path, err := textArg(args, "path")
	if err = errors.Join(known(args, "path", "sha256", "changes"), err); err != nil {
		return looked{}, err
	}
	data, err := i.whole(path)
	if err != nil {
		return looked{}, err
	}
	sum := sha256.Sum256(data)
	l := looked{hash: hex.EncodeToString(sum[:])}
	if want, imports := args["sha256"]; imports && want != l.hash {
		return looked{}, fmt.Errorf("sha256: %s is not the file any more that was looked at: look at it again, with the path alone", path)
	}
	devices, skipped, err := inventory.Read(path, data)
	if err != nil {
		return looked{}, err
	}
	old, err := i.to.Load(ctx)
	if err != nil && !errors.Is(err, inventory.ErrEmpty) {
		return looked{}, err
	}
	l.devices, l.changes = devices, inventory.Compare(old, devices)
	if len(skipped) > 0 {
		l.changes += fmt.Sprintf("skipped: %d entries, the first in line %d: %s\n", len(skipped), skipped[0].Line, skipped[0].Why)
	}
	return l, nil
}

func (i importer) run(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
	l, err := i.look(ctx, args)
	if err != nil {
		return agents.Result{}, err
	}
	if err := l.showable(); err != nil {
		return agents.Result{}, err
	}
	if _, imports := args["sha256"]; !imports {
		return agents.Result{Text: l.changes + "nothing is imported yet; the file's sha256 is " + l.hash + "\n"}, nil
	}
	if args["changes"] != l.changes {
		return agents.Result{}, errOther
	}
	if err := i.to.Import(ctx, l.devices); err != nil {
		return agents.Result{}, err
	}
	return agents.Result{Text: "imported\n" + l.changes}, nil
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
