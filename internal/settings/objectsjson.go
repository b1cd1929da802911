package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// read reads the list from JSON.
func (o *objects[T]) read(r *reader) (any, error) {
	all := []T{}
	err := r.array(o.key, func() error {
		at := fmt.Sprintf("%s[%d]", o.key, len(all))
		if err := r.open('{', at+" must be a JSON object, {…}"); err != nil {
			return err
		}
		begins, broken := r.placeFor(at, r.place()), len(r.errs)
		t, err := o.readOne(r, at)
		if err != nil {
			return err
		}
		if r.adapted { // people know the block, not its number
			at = o.block + " " + *o.name(&t)
		}
		if len(r.errs) == broken {
			for _, err := range o.problems(&t, all) {
				r.complain(begins, fmt.Errorf("%s: %w", at, err))
			}
		}
		all = append(all, t)
		return nil
	})
	return all, err
}

// readOne reads an object, which errors call by the name at, behind its brace.
func (o *objects[T]) readOne(r *reader, at string) (t T, err error) {
	for _, f := range o.fields {
		if err := f.setDefault(&t); err != nil {
			return t, err
		}
	}
	err = r.members(at+".", func(name, place string) error {
		raw, err := r.value()
		if err != nil {
			return err
		}
		if err := o.set(&t, name, raw, r.adapted); err != nil {
			r.complain(r.placeFor(at+"."+name, place), fmt.Errorf("%s: %w", at, err))
		}
		return nil
	})
	return t, err
}

// set sets a field to a value as it stands in JSON.
func (o *objects[T]) set(t *T, name string, raw json.RawMessage, lax bool) error {
	f, ok := find(o.all(), name)
	if !ok {
		return unknownField(o.key, name, o.all())
	}
	words, err := f.decode(raw, lax)
	if err == nil && (len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.TrimSpace(w) == "" })) {
		err = errors.New("the value is empty: give one or leave it out")
	}
	if err == nil {
		err = f.set(t, words)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// show gives the objects as JSON, without what is empty; no text when there are none.
func (o *objects[T]) show(s Settings) string {
	all := o.of(s)
	if len(all) == 0 {
		return ""
	}
	shown := make([]string, len(all))
	for i := range all {
		var members []string
		for _, f := range o.all() {
			if f.show(&all[i]) == "" {
				continue
			}
			if v, err := json.Marshal(f.json(&all[i])); err == nil { // words, numbers and truth values always are JSON
				members = append(members, fmt.Sprintf("%q:%s", f.name, v))
			}
		}
		shown[i] = "{" + strings.Join(members, ",") + "}"
	}
	return "[" + strings.Join(shown, ",") + "]"
}
