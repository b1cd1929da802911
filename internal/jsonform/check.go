package jsonform

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Error says which field of a document is wrong, and what is wrong with it.
type Error struct {
	Field  string // input.messages[0].role; "the body" for the whole document
	Reason string
}

func (e *Error) Error() string { return e.Field + ": " + e.Reason }

// Check returns nil for a document of the form, else an *Error about the first field that is wrong.
// The document must be well-formed, see package strictjson.
func (f *Form) Check(doc []byte) error {
	c := checker{d: jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true))}
	return c.value(f.root)
}

type checker struct{ d *jsontext.Decoder }

// kinds are the types of JSON Schema by the first byte of a value.
var kinds = map[jsontext.Kind]string{
	'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null",
}

func (c checker) value(n *node) error {
	kind := kinds[c.d.PeekKind()]
	switch {
	case n.kind != "" && kind != n.kind && (n.kind != "integer" || kind != "number"):
		if err := c.skip(); err != nil {
			return err
		}
		return c.wrong("must be of type %s, got %s", n.kind, kind)
	case kind == "object" && n.properties != nil:
		return c.object(n)
	case kind == "array":
		return c.array(n)
	case kind == "string" && n.kind == "string":
		return c.text(n)
	case n.kind == "integer":
		return c.integer()
	}
	return c.skip()
}

func (c checker) integer() error {
	token, err := c.d.ReadToken()
	if err != nil {
		return c.broken(err)
	}
	if strings.ContainsAny(token.String(), ".eE") {
		return c.wrong("must be of type integer, got number")
	}
	return nil
}

func (c checker) object(n *node) error {
	if _, err := c.d.ReadToken(); err != nil {
		return c.broken(err)
	}
	missing := slices.Clone(n.required)
	for c.d.PeekKind() == '"' {
		token, err := c.d.ReadToken()
		if err != nil {
			return c.broken(err)
		}
		name := token.String()
		child, ok := n.properties[name]
		if !ok {
			if err := c.skip(); err != nil {
				return err
			}
			continue
		}
		if i := slices.Index(missing, name); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		}
		if err := c.value(child); err != nil {
			return err
		}
	}
	if _, err := c.d.ReadToken(); err != nil {
		return c.broken(err)
	}
	if len(missing) > 0 {
		return &Error{strings.TrimPrefix(c.field()+"."+missing[0], whole+"."), "is missing"}
	}
	return nil
}

func (c checker) array(n *node) error {
	if _, err := c.d.ReadToken(); err != nil {
		return c.broken(err)
	}
	var count int64
	for ; c.d.PeekKind() != ']'; count++ {
		var err error
		if n.items == nil {
			err = c.skip()
		} else {
			err = c.value(n.items)
		}
		if err != nil {
			return err
		}
	}
	if _, err := c.d.ReadToken(); err != nil {
		return c.broken(err)
	}
	switch {
	case count == 0 && n.minItems > 0:
		return c.wrong("must not be empty")
	case count < n.minItems:
		return c.wrong("must have at least %d items, got %d", n.minItems, count)
	case n.maxItems > 0 && count > n.maxItems:
		return c.wrong("must have at most %d items, got %d", n.maxItems, count)
	}
	return nil
}

func (c checker) text(n *node) error {
	if n.minLength == 0 && n.enum == nil && !n.uuid {
		return c.skip()
	}
	raw, err := c.d.ReadValue()
	if err != nil {
		return c.broken(err)
	}
	if len(n.enum) == 0 && !n.uuid { // only its length counts: a long one is not copied
		if int64(len(raw)-2) >= 6*n.minLength || length(raw) >= n.minLength {
			return nil
		}
		if n.minLength > 1 {
			return c.wrong("must have at least %d characters", n.minLength)
		}
		return c.wrong("must not be empty")
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return c.broken(err)
	}
	switch {
	case len(n.enum) > 0 && !slices.Contains(n.enum, string(text)):
		return c.wrong("must be one of %s, got %s", strings.Join(n.enum, " "), clip(text))
	case n.uuid && (len(text) != 36 || uuid.Validate(string(text)) != nil):
		return c.wrong("must be a valid uuid")
	}
	return nil
}

// length is the number of characters of a short string.
func length(raw jsontext.Value) int64 {
	text, _ := jsontext.AppendUnquote(nil, raw) // the decoder has found it well-formed
	return int64(utf8.RuneCount(text))
}

// clip is a text as an error shows it.
func clip(text []byte) string {
	const most = 40
	s := string(text)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

func (c checker) skip() error {
	if err := c.d.SkipValue(); err != nil {
		return c.broken(err)
	}
	return nil
}

// wrong is an error about the value that was read last.
func (c checker) wrong(format string, args ...any) error {
	return &Error{c.field(), fmt.Sprintf(format, args...)}
}

func (c checker) broken(err error) error { return &Error{c.field(), "cannot be read: " + err.Error()} }

// whole is what the document itself is called.
const whole = "the body"

// field writes the place of the value that was read last as people write fields.
func (c checker) field() string {
	var b strings.Builder
	depth := c.d.StackDepth()
	names := slices.Collect(c.d.StackPointer().Tokens())
	for i, name := range names {
		if kind, _ := c.d.StackIndex(min(i+1, depth)); kind == '[' {
			b.WriteString("[" + name + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	if b.Len() == 0 {
		return whole
	}
	return b.String()
}
