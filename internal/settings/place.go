package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// placesKey is the member of an adapted document that says where its values were written.
const placesKey = "places"

// Places says where in a Caddyfile something was written, as file:line: sections ("auth"), settings
// ("auth.mode"), objects of lists by their number ("oidc[0]") and their fields ("oidc[0].issuer"). What
// is wrong with them may show only when a configuration is loaded, from JSON that has no lines.
type Places map[string]string

// PlacesIn returns what a document, the JSON of the app svc, says about places; nothing if it was not
// adapted from a Caddyfile.
func PlacesIn(doc json.RawMessage) Places {
	var d struct {
		Places Places `json:"places"`
	}
	if len(doc) == 0 || json.Unmarshal(doc, &d) != nil {
		return nil // whoever reads the document says what is wrong with it
	}
	return d.Places
}

// Of returns the place of a key, or of what it is in: the section, or the object.
func (p Places) Of(key string) string {
	for {
		if place := p[key]; place != "" {
			return place
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return ""
		}
		key = key[:i]
	}
}

// fault is an error about some settings.
type fault struct {
	keys []string
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// About returns an error about settings, the one to look at first before the others. [Placed] says where
// they are.
func About(err error, keys ...string) error {
	if err == nil {
		return nil
	}
	return &fault{keys, err}
}

// problems returns what collects problems with settings, of which each begins with the key that it is
// about. If that was not set, the problem is where one of others was.
func problems(errs *[]error, others ...string) func(is bool, key, rest string) {
	return func(is bool, key, rest string) {
		if is {
			*errs = append(*errs, About(errors.New(key+rest), slices.Concat([]string{key}, others)...))
		}
	}
}

// Placed puts the places of the settings that errors are about in front of them: a flag, a variable, or
// a file and line.
func Placed(err error, values []Value, places Places) error {
	if err == nil {
		return nil
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok { // of this error itself, not of what it wraps
		var located []error
		for _, e := range all.Unwrap() {
			located = append(located, Placed(e, values, places))
		}
		return errors.Join(located...)
	}
	f, ok := errors.AsType[*fault](err)
	if !ok {
		return err
	}
	for _, key := range f.keys {
		if place := placeOf(key, values, places); place != "" {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return err
}

// placeOf is where a setting was set; nothing if it was not.
func placeOf(key string, values []Value, places Places) string {
	i := slices.IndexFunc(values, func(v Value) bool { return v.Key == key })
	if i >= 0 && values[i].Origin != FromCaddyfile && values[i].Origin != FromDefault {
		return values[i].Place
	}
	return places.Of(key)
}
