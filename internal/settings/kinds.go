package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// text is a value of one word or sentence.
func text[T any](name, def, doc string, at func(*T) *string, check func(string) error) field[T] {
	return field[T]{
		name: name, kind: kindText, def: def, form: "text", doc: doc,
		set: func(t *T, words []string) error {
			v := strings.TrimSpace(words[0])
			if check != nil && v != "" {
				if err := check(v); err != nil {
					return err
				}
			}
			*at(t) = v
			return nil
		},
		get: func(t *T) []string { return []string{*at(t)} },
	}
}

// variable is the name of an environment variable that holds a secret.
func variable[T any](name, doc string, at func(*T) *string) field[T] {
	f := text(name, "", doc, at, checkEnvName)
	f.kind, f.form = kindVariable, "name of a variable"
	return f
}

// secret is a value that says where a secret is.
func secret[T any](name, doc string, at func(*T) *Reference) field[T] {
	return field[T]{
		name: name, kind: kindReference, form: "`{env.NAME}` or `{file./path}`", doc: doc,
		set: func(t *T, words []string) error {
			if err := checkReference(words[0]); err != nil {
				return err
			}
			*at(t) = Reference(words[0])
			return nil
		},
		get: func(t *T) []string { return []string{string(*at(t))} },
	}
}

// list is a list of words without commas and spaces.
func list[T any](name, def, doc string, at func(*T) *[]string, check func([]string) error) field[T] {
	return field[T]{
		name: name, kind: kindList, def: def, form: "list", doc: doc,
		set: func(t *T, words []string) error {
			if check != nil {
				if err := check(words); err != nil {
					return err
				}
			}
			*at(t) = words
			return nil
		},
		get: func(t *T) []string { return *at(t) },
	}
}

// names is a list whose items have commas and spaces in them, as DNs do.
func names[T any](name, doc string, at func(*T) *[]string) field[T] {
	f := list(name, "", doc, at, noneTwice)
	f.kind, f.form = kindNames, "list, with `;` between its items"
	return f
}

// items is a list whose items have any character in them. Those of def are separated by spaces.
func items[T any](name, def, doc string, at func(*T) *[]string, check func([]string) error) field[T] {
	f := list(name, def, doc, at, check)
	f.kind = kindItems
	return f
}

func boolean[T any](name string, def bool, doc string, at func(*T) *bool) field[T] {
	return field[T]{
		name: name, kind: kindBool, def: strconv.FormatBool(def), form: "`true` or `false`", doc: doc,
		set: func(t *T, words []string) error {
			v := strings.TrimSpace(words[0])
			if v != "true" && v != "false" {
				return fmt.Errorf("%q is neither true nor false", v)
			}
			*at(t) = v == "true"
			return nil
		},
		get: func(t *T) []string { return []string{strconv.FormatBool(*at(t))} },
	}
}

func number[T any](name string, def, low, high int, doc string, at func(*T) *int) field[T] {
	return field[T]{
		name: name, kind: kindNumber, def: strconv.Itoa(def), form: fmt.Sprintf("%d to %d", low, high), doc: doc,
		set: func(t *T, words []string) error {
			n, err := parseNumber(words[0], int64(low), int64(high))
			if err != nil {
				return err
			}
			*at(t) = int(n)
			return nil
		},
		get: func(t *T) []string { return []string{strconv.Itoa(*at(t))} },
	}
}

func size[T any](name string, def, low, high int64, doc string, at func(*T) *int64) field[T] {
	return field[T]{
		name: name, kind: kindSize, def: strconv.FormatInt(def, 10), form: fmt.Sprintf("%d to %d, or with a unit as in `4MiB`", low, high), doc: doc,
		set: func(t *T, words []string) error {
			n, err := parseSize(words[0], low, high)
			if err != nil {
				return err
			}
			*at(t) = n
			return nil
		},
		get: func(t *T) []string { return []string{strconv.FormatInt(*at(t), 10)} },
	}
}

func duration[T any](name, def string, low, high time.Duration, doc string, at func(*T) *time.Duration) field[T] {
	return field[T]{
		name: name, kind: kindText, def: def, form: fmt.Sprintf("%s to %s", brief(low), brief(high)), doc: doc,
		set: func(t *T, words []string) error {
			d, err := parseDuration(words[0], low, high)
			if err != nil {
				return err
			}
			*at(t) = d
			return nil
		},
		get: func(t *T) []string { return []string{at(t).String()} },
	}
}
