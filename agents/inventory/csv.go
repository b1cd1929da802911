package inventory

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// netboxColumns are the columns of NetBox's exports that are ours, as the templates for imports and as the
// tables of its pages name them.
var netboxColumns = map[string]string{
	"name": "name", "ip address": "address", "primary ip": "address", "primary ip4": "address", "primary ipv4": "address", "primary ip6": "address",
	"primary ipv6": "address", "platform": "platform", "site": "site", "role": "role", "device role": "role", "status": "status", "type": "model",
	"device type": "model", "serial": "serial", "serial number": "serial", "tags": "groups",
}

// telling are columns that only NetBox's exports have.
var telling = []string{"device type", "device role", "manufacturer", "tenant", "rack", "ip address", "primary ip", "primary ip4", "primary ipv4", "type", "tags"}

// plainColumn is a column's name without what exports differ in.
func plainColumn(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "_", " ")), " ")
}

// readCSV reads a table whose first line names the columns.
func (f *file) readCSV(data []byte) {
	r := csv.NewReader(bytes.NewReader(data))
	head, _, _ := bytes.Cut(data, []byte("\n"))
	for _, c := range ";\t" {
		if bytes.Count(head, []byte(string(c))) > bytes.Count(head, []byte(string(r.Comma))) {
			r.Comma = c
		}
	}
	columns, ok := f.next(r)
	if !ok {
		return
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	f.foreign = slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(telling, plainColumn(c)) })
	ours := make([]string, len(columns))
	for i, c := range columns {
		switch at := slices.Index(columns[:i], c); {
		case f.foreign:
			ours[i] = netboxColumns[plainColumn(c)]
		case at >= 0:
			f.wrong(1, clip(c), "the column is there twice")
		case !slices.Contains(fields, strings.ToLower(c)):
			f.unknown(1, c)
		default:
			ours[i] = strings.ToLower(c)
		}
	}
	if !slices.Contains(ours, "name") {
		f.wrong(1, "name", "the column is missing: the first line names the columns")
	}
	for len(f.errs) == 0 && len(f.entries) <= maxDevices {
		row, ok := f.next(r)
		if !ok {
			return
		}
		line, _ := r.FieldPos(0)
		e := entry{line: line}
		for i, v := range row {
			if ours[i] != "" {
				line, _ := r.FieldPos(i)
				e.cells = append(e.cells, cell{line, ours[i], columns[i], v})
			}
		}
		f.entries = append(f.entries, e)
	}
}

// next is the next row; not ok at the end, and where the table is broken.
func (f *file) next(r *csv.Reader) ([]string, bool) {
	row, err := r.Read()
	if err == nil {
		return row, true
	}
	if broken := new(csv.ParseError); errors.As(err, &broken) {
		switch {
		case errors.Is(err, csv.ErrFieldCount):
			f.wrong(broken.Line, "", "the line has %d values, and the first one names %d columns", len(row), r.FieldsPerRecord)
		default:
			f.wrong(broken.Line, "", "a quote is not closed, or stands within a value: put the value in quotes and write its quotes twice")
		}
	} else if !errors.Is(err, io.EOF) {
		f.wrong(0, "", "the table cannot be read")
	}
	return nil, false
}
