package media

import (
	"bytes"
	"encoding/json"
)

// Lines tells by the beginning of a body whether it is a JSON document a line, whatever its type says:
// the first line is an object or an array as a whole, and another one begins behind it. ok is false
// where more bytes could tell more. A body without more has been told all the same.
func Lines(p []byte) (is, ok bool) {
	p = bytes.TrimLeft(p, " \t\r\n")
	if len(p) == 0 {
		return false, false
	}
	if !opens(p) {
		return false, true
	}
	line, rest, whole := bytes.Cut(p, []byte("\n"))
	if !whole {
		return false, false
	}
	if !json.Valid(line) {
		return false, true
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return opens(rest), len(rest) > 0
}

// opens reports whether an object or an array begins.
func opens(p []byte) bool { return len(p) > 0 && (p[0] == '{' || p[0] == '[') }
