// Package strictjson refuses JSON that two readers could understand differently.
//
// A security gateway decides on what it parsed; the tool, the model server or the next proxy
// acts on what it parsed. [Check] therefore accepts one well-formed value in valid UTF-8
// without duplicate names, nested no deeper than [MaxDepth] and with numbers that every
// reader can hold (RFC 7493, I-JSON). All functions are safe for concurrent use.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many arrays and objects may stand within each other.
const MaxDepth = 64

// maxSafeInteger is the largest magnitude of an integer that a binary64 reader holds exactly
// (RFC 7493, 2.2).
const maxSafeInteger = 1<<53 - 1

// Sentinels for what is wrong with a document; the error's text says where.
var (
	ErrEmpty     = errors.New("empty document")
	ErrTruncated = errors.New("document ends too early")
	ErrSyntax    = errors.New("not valid JSON")
	ErrDuplicate = errors.New("duplicate name")
	ErrDepth     = fmt.Errorf("nested deeper than %d levels", MaxDepth)
	ErrNumber    = errors.New("number outside of what I-JSON allows")
	ErrTrailing  = errors.New("more than one value")
)

// Check returns nil for a document that every reader understands in one way, else an error
// that wraps one of the sentinels and names the place as a JSON pointer. Beside the document it
// needs eight bytes for each name of the objects that are open at a time.
func Check(doc []byte) error {
	if len(bytes.TrimSpace(doc)) == 0 {
		return ErrEmpty
	}
	d := newDecoder(doc)
	var seen names
	for {
		if expectsName(d) {
			name, err := d.ReadValue()
			if err != nil {
				return classify(d, err)
			}
			seen.add(name)
			continue
		}
		token, err := d.ReadToken()
		if err != nil {
			return classify(d, err)
		}
		if d.StackDepth() > MaxDepth {
			return fmt.Errorf("%w at %s", ErrDepth, place(d))
		}
		switch kind := token.Kind(); {
		case kind == '0' && !safeNumber(token.String()):
			return fmt.Errorf("%w: %s at %s", ErrNumber, token, place(d))
		case kind == '{':
			seen.open()
		case kind == '}':
			if twice, ok := seen.close(); ok {
				return fmt.Errorf("%w at %s", ErrDuplicate, findTwice(doc, seen.closed, twice))
			}
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return ErrTrailing
	}
	return nil
}

// TooDeep reports whether a document, well-formed or not, is nested deeper than [MaxDepth].
func TooDeep(doc []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// newDecoder reads doc where it is. Names are looked at here: the decoder would keep all of them.
func newDecoder(doc []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true))
}

// expectsName reports whether the next token is a name.
func expectsName(d *jsontext.Decoder) bool {
	kind, n := d.StackIndex(d.StackDepth())
	return kind == '{' && n%2 == 0 && d.PeekKind() == '"'
}

// Object checks doc and decodes it into the fields of an object, numbers as float64.
func Object(doc []byte) (map[string]any, error) {
	if err := Check(doc); err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: must be an object", ErrSyntax)
	}
	return object, nil
}

func classify(d *jsontext.Decoder, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return ErrTruncated
	}
	return fmt.Errorf("%w at byte %d", ErrSyntax, d.InputOffset())
}

func place(d *jsontext.Decoder) string {
	if p := string(d.StackPointer()); p != "" {
		return p
	}
	return "the top level"
}

func safeNumber(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	return strings.ContainsAny(s, ".eE") || math.Abs(f) <= maxSafeInteger
}
