package settings

import (
	"errors"
	"fmt"
)

// entry is one value of a document: a setting's words, or a list of objects.
type entry struct {
	key     string
	place   string // file:line, or what else says where it is
	words   []string
	objects any // a []T
}

// document reads the JSON form of the settings: an object of sections and of lists of objects.
// name stands for it in errors. One that was adapted from a Caddyfile may have numbers and truth
// values as strings, as a placeholder leaves them. What could be read is returned besides the
// errors.
func document(name string, data []byte, adapted bool) ([]entry, error) {
	r := newReader(name, data, adapted)
	if adapted {
		r.places = PlacesIn(data)
	}
	var entries []entry
	err := r.object("the settings", "", func(name, place string) error {
		if IsSection(name) {
			read, err := section(r, name)
			entries = append(entries, read...)
			return err
		}
		if l, ok := lookupList(name); ok {
			objects, err := l.read(r)
			entries = append(entries, entry{key: name, place: place, objects: objects})
			return err
		}
		if !adapted || name != placesKey {
			r.complain(place, Unknown(name))
		}
		_, err := r.value()
		return err
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, err
	}
	return entries, errors.Join(r.errs...)
}

// section reads the settings of a section.
func section(r *reader, section string) (entries []entry, err error) {
	err = r.object(section, section+".", func(name, place string) error {
		raw, err := r.value()
		if err != nil {
			return err
		}
		key := section + "." + name
		place = r.placeFor(key, place)
		o, ok := lookup(key)
		if !ok {
			r.complain(place, Unknown(key))
			return nil
		}
		words, err := o.decode(raw, r.adapted)
		if err != nil {
			r.complain(place, fmt.Errorf("%s: %w", key, err))
			return nil
		}
		entries = append(entries, entry{key: key, place: place, words: words})
		return nil
	})
	return entries, err
}
