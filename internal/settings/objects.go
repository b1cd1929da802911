package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/suggest"
)

// objects describes a list of objects of the type T among the settings, such as the identity
// providers. Each object has a name, which no other of the list has, and fields. The list
// belongs to no section: in JSON it is a list under its key, in a Caddyfile each object is a
// block with the name behind its first word.
type objects[T any] struct {
	key    string           // of the list, in JSON
	block  string           // the first word of an object's block in a Caddyfile
	one    string           // what an object is, with its article
	doc    string           // what the list is for
	name   func(*T) *string // where an object's name is
	fields []field[T]       // the other fields

	// complete, where it is set, looks at what concerns more than one field of an object and
	// derives what was left out. It is called when every field is right by itself.
	complete func(*T) error
	// check, where it is set, looks at what concerns other settings too.
	check func(Settings, []T) error
	// used, where it is set, tells whether the secrets that the objects refer to are needed.
	used func(Settings) bool
}

// Key is the name of the list in JSON.
func (o *objects[T]) Key() string { return o.key }

// Block is the first word of an object's block in a Caddyfile.
func (o *objects[T]) Block() string { return o.block }

// of returns the objects of the settings; nil when there are none.
func (o *objects[T]) of(s Settings) []T {
	all, _ := s.Lists[o.key].([]T)
	return all
}

// all returns every field of an object, the name first.
func (o *objects[T]) all() []field[T] {
	name := text("name", "", "what "+o.one+" is called", o.name, o.CheckName).
		required("give " + o.one + " a name of lowercase letters, digits and -").different()
	return append([]field[T]{name}, o.fields...)
}

var objectName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// CheckName refuses what cannot be the name of an object: names are parts of paths.
func (o *objects[T]) CheckName(name string) error {
	if !objectName.MatchString(name) {
		return fmt.Errorf("%q is not a name for %s: use 1 to 32 lowercase letters, digits and -", name, o.one)
	}
	return nil
}

// ParseField checks the words of a field, as they stand in a Caddyfile after its name, and
// returns it in the form it has in JSON. Words with placeholders pass.
func (o *objects[T]) ParseField(name string, words []string) (any, error) {
	if name == "name" {
		return nil, fmt.Errorf("%s.name: write the name in front of the block, %[1]s <name> { … }", o.block)
	}
	f, ok := find(o.fields, name)
	if !ok {
		return nil, unknownField(o.block, name, o.fields)
	}
	v, err := f.parse(words)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", o.block, name, err)
	}
	return v, nil
}

// CheckObject implements [List].
func (o *objects[T]) CheckObject(values map[string]any) error {
	for name, v := range values {
		if !o.isReference(name) && strings.Contains(fmt.Sprint(v), "{") {
			return nil
		}
	}
	doc, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("reading %s: %w", o.block, err)
	}
	r, what := newReader(o.block, doc, true), fmt.Sprint(o.block, " ", values["name"])
	if err := r.open('{', what); err != nil {
		return err
	}
	t, err := o.readOne(r, what)
	if err != nil || len(r.errs) > 0 {
		return errors.Join(append(r.errs, err)...)
	}
	if err := errors.Join(o.problems(&t, nil)...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func unknownField[T any](what, name string, fields []field[T]) error {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	if n := suggest.Nearest(name, known); n != "" {
		return fmt.Errorf("%s has no %s; did you mean %s?", what, name, n)
	}
	return fmt.Errorf("%s has no %s; it has %s", what, name, strings.Join(known, ", "))
}

// problems tells what is wrong with an object beside its fields, each by itself. others are
// those before it in the list.
func (o *objects[T]) problems(t *T, others []T) (all []error) {
	fields := o.all()
	for _, f := range fields {
		if f.missing != "" && f.show(t) == "" {
			all = append(all, fmt.Errorf("%s is missing: %s", f.name, f.missing))
		}
	}
	if len(all) == 0 && o.complete != nil {
		if err := o.complete(t); err != nil {
			all = append(all, err)
		}
	}
	for _, f := range fields {
		v := f.show(t)
		i := slices.IndexFunc(others, func(b T) bool { return f.unique && v != "" && f.show(&b) == v })
		if i < 0 {
			continue
		}
		if f.name == "name" {
			return append(all, fmt.Errorf("name: %q is used twice", v))
		}
		all = append(all, fmt.Errorf("%[1]s: %[2]s is the %[1]s of %[3]s already", f.name, v, *o.name(&others[i])))
	}
	return all
}

func (o *objects[T]) checkAll(s Settings) error {
	if o.check == nil {
		return nil
	}
	return o.check(s, o.of(s))
}
