package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/internal/suggest"
)

// Limits of a file.
const (
	MaxSize     = 32 << 20  // bytes
	MaxAsked    = 4 << 20   // bytes of one that is read when a tool asks for it
	maxNodes    = 2_500_000 // values, lists and objects, each of which takes many times its bytes
	maxDevices  = 100_000
	maxMistakes = 20 // that are told
)

// Mistake is what is wrong with a file, and what to do.
type Mistake struct {
	File  string
	Line  int    // 0: it is not about a line
	Field string // empty: it is not about a field
	Text  string
}

// Error is file:line: field: text.
func (m *Mistake) Error() string {
	at := m.File
	if m.Line > 0 {
		at += fmt.Sprintf(":%d", m.Line)
	}
	if m.Field != "" {
		at += ": " + m.Field
	}
	return at + ": " + m.Text
}

// Skipped is an entry of a file of NetBox that is no device of ours, and why.
type Skipped struct {
	Line int
	Why  string
}

// cell is a value of a file.
type cell struct {
	line  int
	field string // one of fields
	named string // what the file calls it
	text  string
}

// entry is a device of a file before it is checked.
type entry struct {
	line   int
	cells  []cell
	groups []cell // names of groups, one each
}

// file collects what is in a file and what is wrong with it.
type file struct {
	name    string
	foreign bool // it is NetBox's
	entries []entry
	errs    []error
	more    int // mistakes that are not told
}

func (f *file) wrong(line int, field, format string, args ...any) {
	if len(f.errs) == maxMistakes {
		f.more++
		return
	}
	f.errs = append(f.errs, &Mistake{f.name, line, field, fmt.Sprintf(format, args...)})
}

// Read reads a file. Its name is for messages, and says whether it is CSV. The error joins all mistakes,
// each a [*Mistake]; there is no device then.
func Read(name string, data []byte) ([]Device, []Skipped, error) {
	f := &file{name: name}
	switch data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")); {
	case len(data) > MaxSize:
		f.wrong(0, "", "the file has more than %d MiB: split it", MaxSize>>20)
	case !utf8.Valid(data):
		f.wrong(0, "", "the file is not UTF-8: convert it")
	case slices.Contains([]string{".csv", ".tsv"}, strings.ToLower(filepath.Ext(name))):
		f.readCSV(data)
	default:
		f.readTree(data)
	}
	devices, skipped := f.devices()
	if f.more > 0 {
		f.errs = append(f.errs, &Mistake{File: name, Text: fmt.Sprintf("there are %d more mistakes", f.more)})
	}
	if err := errors.Join(f.errs...); err != nil {
		return nil, nil, err
	}
	return devices, skipped, nil
}

// devices checks the entries.
func (f *file) devices() (all []Device, skipped []Skipped) {
	if len(f.errs) == 0 && len(f.entries) == 0 {
		f.wrong(0, "", "there is no device in it")
	}
	if len(f.entries) > maxDevices {
		f.wrong(0, "", "there are more than %d devices", maxDevices)
		return nil, nil
	}
	lines := map[string]int{}
	for _, e := range f.entries {
		d, ok := f.device(e)
		if !ok {
			continue
		}
		if d.Name == "" {
			skipped = append(skipped, Skipped{e.line, "it has no name"})
			continue
		}
		key := strings.ToLower(d.Name)
		if first, twice := lines[key]; twice {
			f.wrong(e.line, "name", "%s stands in line %d already: names are unique", d.Name, first)
			continue
		}
		lines[key] = e.line
		all = append(all, d)
	}
	return all, skipped
}

// device checks one entry.
func (f *file) device(e entry) (d Device, ok bool) {
	d, ok = Device{Port: defaultPort}, true
	set := map[string]bool{}
	for _, c := range e.cells {
		if set[c.field] && !f.foreign {
			f.wrong(c.line, c.named, "the field is there twice")
			ok = false
		}
		if strings.TrimSpace(c.text) == "" && c.field != "name" || set[c.field] {
			continue // NetBox names the address of a family beside the address
		}
		if f.foreign && c.field == "name" && strings.TrimSpace(c.text) == "" {
			continue
		}
		set[c.field] = true
		if err := d.set(c.field, c.text); err != nil {
			f.wrong(c.line, c.named, "%v", err)
			ok = false
		}
	}
	for _, c := range e.groups {
		if err := d.join(c.text); err != nil {
			f.wrong(c.line, c.named, "%v", err)
			ok = false
		}
	}
	if ok && d.Name == "" && !f.foreign {
		f.wrong(e.line, "name", "it is missing: every device has one")
		ok = false
	}
	return d, ok
}

// unknown tells of a field that there is not.
func (f *file) unknown(line int, field string) {
	hint := "the fields are " + strings.Join(fields, ", ")
	if n := suggest.Nearest(field, fields); n != "" {
		hint = "did you mean " + n + "?"
	}
	f.wrong(line, clip(field), "there is no such field; %s", hint)
}
