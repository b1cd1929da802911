package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// TableName is the name of the table.
const TableName = "inventory"

const (
	maxAnswer = 64 << 20             // bytes of the answer with the table
	anyAge    = 365 * 24 * time.Hour // of a snapshot: the one that was just asked for, or a newer one
)

// Table is the inventory in the analytical database. Make it with [NewTable].
type Table struct {
	db *analytics.DB

	mu   sync.Mutex // guards the rest
	from string     // the snapshot that list is of
	list List
}

// NewTable returns the table of a database. Without one it is empty.
func NewTable(db *analytics.DB) *Table { return &Table{db: db} }

// Import replaces the table by devices, all of it or nothing. Whoever asks afterwards finds them.
func (t *Table) Import(ctx context.Context, devices []Device) error {
	var rows bytes.Buffer
	enc := json.NewEncoder(&rows)
	for _, d := range sorted(slices.Clone(devices)) {
		if d.Groups == nil {
			d.Groups = []string{}
		}
		if err := enc.Encode(d); err != nil {
			return fmt.Errorf("encoding the device %s: %w", d.Name, err)
		}
	}
	f := analytics.File{Name: TableName, Table: TableName, Format: duckwire.FormatJSON, Mode: duckwire.ModeReplace}
	if _, err := t.db.Import(ctx, f, &rows); err != nil {
		return fmt.Errorf("importing the inventory: %w", err)
	}
	if err := t.db.Publish(ctx); err != nil {
		return fmt.Errorf("publishing the inventory: %w", err)
	}
	return nil
}

// ErrEmpty says that there is no inventory.
var ErrEmpty = errors.New("there is no inventory: import one with service inventory import FILE")

// Load returns the inventory as it is in the newest snapshot. It asks the database only when that is
// another one than before.
func (t *Table) Load(ctx context.Context) (List, error) {
	if t.db == nil {
		return nil, ErrEmpty
	}
	snapshot, release, err := t.db.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	release()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.from == snapshot {
		return t.list, nil
	}
	list, err := t.query(ctx)
	if err != nil {
		return nil, err
	}
	t.from, t.list = snapshot, list
	return list, nil
}

func (t *Table) query(ctx context.Context) (List, error) {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = "CAST(" + f + " AS VARCHAR) AS " + f
	}
	columns[len(fields)-1] = "CAST(groups AS VARCHAR[]) AS groups"
	a, err := t.db.Query(ctx, analytics.Query{SQL: "SELECT " + strings.Join(columns, ", ") + " FROM " + TableName, Rows: maxDevices, Bytes: maxAnswer, MaxAge: anyAge})
	if fault := new(duckwire.Fault); errors.As(err, &fault) && fault.Code == duckwire.CodeStatement {
		return nil, fmt.Errorf("%w (%s)", ErrEmpty, fault.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	if a.Truncated != "" {
		return nil, fmt.Errorf("reading the inventory: the table %s is larger than an inventory may be", TableName)
	}
	list := make(List, 0, len(a.Rows))
	for _, raw := range a.Rows {
		d, err := row(raw)
		if err != nil {
			return nil, fmt.Errorf("reading the inventory: the table %s was not made by service inventory import: %w", TableName, err)
		}
		list = append(list, d)
	}
	return sorted(list), nil
}

// row is a device as the table has it. It is held to the form of one in a file.
func row(raw json.RawMessage) (Device, error) {
	var values []any
	if err := json.Unmarshal(raw, &values); err != nil || len(values) != len(fields) {
		return Device{}, errors.New("a row is not understood")
	}
	d := Device{Port: defaultPort}
	for i, f := range fields[:len(fields)-1] {
		v, _ := values[i].(string)
		if v == "" && f != "name" {
			continue
		}
		if err := d.set(f, v); err != nil {
			return d, fmt.Errorf("%s of %s: %w", f, d.Name, err)
		}
	}
	groups, _ := values[len(fields)-1].([]any)
	for _, g := range groups {
		name, _ := g.(string)
		if err := d.join(name); err != nil {
			return d, fmt.Errorf("groups of %s: %w", d.Name, err)
		}
	}
	return d, nil
}
