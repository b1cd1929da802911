package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Origin is the layer a value came from.
type Origin string

// The layers, strongest first.
const (
	FromFlag      Origin = "flag"
	FromEnv       Origin = "env"
	FromCaddyfile Origin = "Caddyfile"
	FromFile      Origin = "file"
	FromDefault   Origin = "default"
)

// Layers is where settings are looked for. The zero value has the defaults only.
type Layers struct {
	Flags     map[string]string           // by key, as text
	Env       func(string) (string, bool) // os.LookupEnv; nil for none
	Caddyfile json.RawMessage             // the Caddy app's JSON, placeholders replaced; may be empty
	File      string                      // path of config/api.json; it need not exist
}

// Value is one resolved setting.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
	Place  string `json:"place,omitempty"` // the flag, the variable, or the file and line
}

// Resolve takes each setting from the strongest layer that has it and checks it. The values
// are in the order of [Options], the lists of objects last. The error, if any, joins everything
// that is wrong in any layer, also in values that a stronger layer hides.
func Resolve(l Layers) (Settings, []Value, error) {
	r := newResolution()
	entries, err := readFile(l.File)
	r.layer(FromFile, entries, err)
	places := PlacesIn(l.Caddyfile)
	if len(l.Caddyfile) > 0 {
		entries, err = document(string(FromCaddyfile), l.Caddyfile, true)
		r.layer(FromCaddyfile, entries, err)
	}
	r.layer(FromEnv, fromEnv(l.Env), nil)
	r.layer(FromFlag, fromFlags(l.Flags), nil)
	if len(r.errs) == 0 {
		if err := r.settings.check(); err != nil {
			r.errs = append(r.errs, Placed(err, r.values, places))
		}
	}
	return r.settings, r.show(), errors.Join(r.errs...)
}

// resolution is the settings while the layers are laid over each other.
type resolution struct {
	settings Settings
	values   []Value // options, then lists
	errs     []error
}

// newResolution begins with the defaults.
func newResolution() *resolution {
	r := new(resolution)
	for _, o := range options {
		r.values = append(r.values, Value{Key: o.name, Origin: FromDefault})
		if err := o.setDefault(&r.settings); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	for _, l := range lists {
		r.values = append(r.values, Value{Key: l.Key(), Origin: FromDefault})
	}
	return r
}

func (r *resolution) layer(origin Origin, entries []entry, err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
	for _, e := range entries {
		if err := r.set(e); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", e.place, err))
			continue
		}
		i := slices.IndexFunc(r.values, func(v Value) bool { return v.Key == e.key })
		r.values[i].Origin, r.values[i].Place = origin, e.place
		if origin == FromCaddyfile && e.place == string(FromCaddyfile) {
			r.values[i].Place = "" // the origin says it all
		}
	}
}

func (r *resolution) set(e entry) error {
	if _, isList := lookupList(e.key); isList {
		if e.objects == nil {
			return errors.New("this list can be set in config/api.json or the Caddyfile only")
		}
		if r.settings.Lists == nil {
			r.settings.Lists = Lists{}
		}
		r.settings.Lists[e.key] = e.objects
		return nil
	}
	o, ok := lookup(e.key)
	if !ok {
		return Unknown(e.key)
	}
	if err := o.set(&r.settings, e.words); err != nil {
		return fmt.Errorf("%s: %w", e.key, err)
	}
	return nil
}

// show puts the values as text into the list of values.
func (r *resolution) show() []Value {
	for i, o := range options {
		r.values[i].Value = o.show(&r.settings)
	}
	for i, l := range lists {
		r.values[len(options)+i].Value = l.show(r.settings)
	}
	return r.values
}

// CheckFlag reports what is wrong with a flag by itself: whether there is such a setting, and
// whether it can have this value.
func CheckFlag(key, value string) error {
	r := newResolution()
	r.layer(FromFlag, fromFlags(map[string]string{key: value}), nil)
	return errors.Join(r.errs...)
}

func readFile(path string) ([]entry, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	return document(path, data, false)
}

func fromEnv(env func(string) (string, bool)) []entry {
	if env == nil {
		return nil
	}
	var entries []entry
	for _, o := range options {
		// An empty variable counts as unset: that is how container and service files
		// leave one out.
		if v, ok := env(variableOf(o.name)); ok && v != "" {
			if o.kind == kindReference { // the variable holds the secret itself
				v = "{env." + variableOf(o.name) + "}"
			}
			entries = append(entries, entry{key: o.name, place: variableOf(o.name), words: o.words(v)})
		}
	}
	return entries
}

func fromFlags(flags map[string]string) []entry {
	var entries []entry
	for key, v := range flags {
		e := entry{key: key, place: "--set " + key, words: []string{v}}
		if o, ok := lookup(key); ok {
			e.words = o.words(v)
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return entries
}
