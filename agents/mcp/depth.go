package mcp

import (
	"errors"

	"github.com/svc-gateway/svc/internal/strictjson"
)

// errTooDeep is what becomes of a server whose JSON is nested deeper than [strictjson.MaxDepth]. A decoder may
// take the square of the depth in time, and no deadline interrupts it.
var errTooDeep = errors.New("it sent JSON that is nested too deep")

// depth follows how deep JSON is nested, byte by byte.
type depth struct {
	level         int
	text, escaped bool
}

// take reports whether the JSON is nested too deep with its next byte.
func (d *depth) take(c byte) bool {
	switch {
	case d.escaped:
		d.escaped = false
	case d.text:
		d.escaped, d.text = c == '\\', c != '"'
	case c == '"':
		d.text = true
	case c == '[', c == '{':
		d.level++
	case c == ']', c == '}':
		d.level--
	}
	return d.level > strictjson.MaxDepth
}

// eventDepth is the same for the data of server-sent events: all lines data: up to an empty line are one text.
type eventDepth struct {
	depth
	column int
	data   bool // the line is one, as far as it has come
	cr     bool // the last byte ended a line
}

const dataField = "data:"

func (d *eventDepth) take(c byte) bool {
	ended := d.cr
	d.cr = c == '\r'
	switch {
	case c == '\n' && ended:
	case c == '\n', c == '\r':
		if d.column == 0 {
			d.depth = depth{}
		}
		d.column, d.data = 0, true
	case d.column < len(dataField):
		d.data = d.data && c == dataField[d.column]
		d.column++
	default:
		return d.data && d.depth.take(c)
	}
	return false
}
