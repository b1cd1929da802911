package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// reader walks a document token by token, so that every complaint has its line.
type reader struct {
	name    string // of the document, in errors
	adapted bool   // from a Caddyfile
	data    []byte
	dec     *json.Decoder
	places  Places  // of what was adapted, where they are known
	errs    []error // what is wrong and does not end the reading
}

func newReader(name string, data []byte, adapted bool) *reader {
	return &reader{name: name, adapted: adapted, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
}

// place is where the reader is, as file:line. A document that was adapted has lines that nobody
// has seen, so its name has to do.
func (r *reader) place() string { return r.placeOf(r.dec.InputOffset()) }

func (r *reader) placeOf(offset int64) string {
	if r.adapted {
		return r.name
	}
	n := min(int(offset), len(r.data))
	return fmt.Sprintf("%s:%d", r.name, 1+bytes.Count(r.data[:n], []byte("\n")))
}

// placeFor is where something was written that the reader has read at a place.
func (r *reader) placeFor(key, place string) string {
	if written := r.places.Of(key); written != "" {
		return written
	}
	return place
}

// complain notes what is wrong at a place.
func (r *reader) complain(place string, err error) {
	r.errs = append(r.errs, fmt.Errorf("%s: %w", place, err))
}

// syntax places an error of the decoder.
func (r *reader) syntax(err error) error {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s: this is not valid JSON: %w", r.placeOf(s.Offset), s)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: this is not valid JSON: the file ends too early", r.place())
	}
	return fmt.Errorf("%s: %w", r.place(), err)
}

// object reads an object, which errors call what, see [reader.members].
func (r *reader) object(what, prefix string, value func(name, place string) error) error {
	if err := r.open('{', what+" must be a JSON object, {…}"); err != nil {
		return err
	}
	return r.members(prefix, value)
}

// members reads the rest of an object. Each value is read by value, which is told the name and
// its place; prefix stands before names in errors.
func (r *reader) members(prefix string, value func(name, place string) error) error {
	var seen []string
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return r.syntax(err)
		}
		place := r.place()
		name, ok := t.(string)
		if !ok {
			return fmt.Errorf("%s: this is not valid JSON: a name in quotes is expected", place)
		}
		if slices.Contains(seen, name) {
			r.complain(place, fmt.Errorf("%s%s is set twice", prefix, name))
		}
		seen = append(seen, name)
		if err := value(name, place); err != nil {
			return err
		}
	}
	return r.close()
}

// array reads a list, which errors call what. Each value is read by value.
func (r *reader) array(what string, value func() error) error {
	if err := r.open('[', what+" must be a list of objects, [{…}]"); err != nil {
		return err
	}
	for r.dec.More() {
		if err := value(); err != nil {
			return err
		}
	}
	return r.close()
}

func (r *reader) open(d json.Delim, otherwise string) error {
	t, err := r.dec.Token()
	if err != nil {
		return r.syntax(err)
	}
	if t != d {
		return fmt.Errorf("%s: %s", r.place(), otherwise)
	}
	return nil
}

func (r *reader) close() error {
	if _, err := r.dec.Token(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// value reads any value.
func (r *reader) value() (json.RawMessage, error) {
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return nil, r.syntax(err)
	}
	return raw, nil
}

// end makes sure that nothing follows.
func (r *reader) end() error {
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something follows the end of the settings", r.place())
	}
	return nil
}
