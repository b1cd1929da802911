package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// field is one value of a T that is set by its name. An option is a field of the [Settings]
// with the name section.key; the objects of a list have fields too. The functions in kinds.go
// make them.
type field[T any] struct {
	name string
	kind kind
	def  string // the default as text; empty when there is none
	form string // which values may be written, for the documentation
	doc  string // one sentence of Markdown, with the unit

	missing string // in an object: what to write when the value is missing; empty when it may be
	unique  bool   // in an object: no two of a list have the same value

	set func(*T, []string) error // takes at least one word, and exactly one unless the kind has many
	get func(*T) []string        // gives them back
}

// kind is how a value is written.
type kind int

const (
	kindText      kind = iota // "words"
	kindVariable              // "NAME" of an environment variable
	kindReference             // "{env.NAME}" or "{file./path}"
	kindBool                  // true
	kindNumber                // 12
	kindSize                  // 4194304 or "4MiB"
	kindList                  // ["a","b"] or "a,b"
	kindNames                 // ["a","b"] or "a;b": names have commas and spaces in them
	kindItems                 // ["a","b"] or "a": items have any character in them
)

// many reports whether a value of the kind has any number of words.
func (k kind) many() bool { return k == kindList || k == kindNames || k == kindItems }

// find returns the field of that name.
func find[T any](fields []field[T], name string) (field[T], bool) {
	i := slices.IndexFunc(fields, func(f field[T]) bool { return f.name == name })
	if i < 0 {
		return field[T]{}, false
	}
	return fields[i], true
}

// required has an object without the field refused; missing says what to write.
func (f field[T]) required(missing string) field[T] {
	f.missing = missing
	return f
}

// different has two objects of a list with the same value of the field refused.
func (f field[T]) different() field[T] {
	f.unique = true
	return f
}

// words gives the words of a value written as one text.
func (f field[T]) words(s string) []string {
	switch f.kind {
	case kindList:
		return split(s)
	case kindNames:
		return splitNames(s)
	default:
		return []string{s}
	}
}

// setDefault sets the default, if there is one.
func (f field[T]) setDefault(t *T) error {
	if f.def == "" {
		return nil
	}
	words := f.words(f.def)
	if f.kind == kindItems {
		words = strings.Fields(f.def)
	}
	if err := f.set(t, words); err != nil {
		return fmt.Errorf("default of %s: %w", f.name, err)
	}
	return nil
}

// show gives the value as one text; empty when there is none.
func (f field[T]) show(t *T) string {
	separator := ","
	if f.kind == kindNames {
		separator = ";"
	}
	return strings.Join(f.get(t), separator)
}

// json gives the value in the form it has in JSON.
func (f field[T]) json(t *T) any {
	switch f.kind {
	case kindList, kindNames, kindItems:
		return f.get(t)
	case kindBool:
		return f.show(t) == "true"
	case kindNumber, kindSize:
		return json.Number(f.show(t))
	default:
		return f.show(t)
	}
}

// parse checks the words of a value, as they stand in a Caddyfile after its name, and returns
// it in the form it has in JSON. Words with placeholders pass.
func (f field[T]) parse(words []string) (any, error) {
	switch {
	case len(words) == 0 && f.kind == kindBool:
		return true, nil
	case len(words) == 0:
		return nil, errors.New("a value is missing")
	case len(words) > 1 && !f.kind.many():
		return nil, fmt.Errorf("one value is expected, %d are given", len(words))
	case slices.Contains(words, ""):
		return nil, errors.New("the value is empty: give one or leave the line out")
	}
	if f.kind != kindReference && strings.Contains(strings.Join(words, ""), "{") {
		if f.kind.many() {
			return words, nil
		}
		return words[0], nil
	}
	var t T
	if err := f.set(&t, words); err != nil {
		return nil, err
	}
	return f.json(&t), nil
}
