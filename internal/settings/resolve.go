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
// are in the order of [Options], the lists oidc and async_subagents last. The error, if any, joins everything
// that is wrong in any layer, also in values that a stronger layer hides.
func Resolve(l Layers) (Settings, []Value, error) {
	var s Settings
	var errs []error
	values := make([]Value, len(options), len(options)+2)
	for i, o := range options {
		values[i] = Value{Key: o.Key, Origin: FromDefault}
		if o.Default == "" {
			continue
		}
		if err := o.set(&s, o.words(o.Default)); err != nil {
			errs = append(errs, fmt.Errorf("default of %s: %w", o.Key, err))
		}
	}
	issuers := Value{Key: IssuersKey, Origin: FromDefault}
	subagents := Value{Key: AsyncSubagentsKey, Origin: FromDefault}

	set := func(e entry, origin Origin) {
		switch {
		case e.key == AsyncSubagentsKey && e.words == nil:
			s.AsyncSubagents = e.agents
			subagents.Origin, subagents.Place = origin, e.place
			return
		case e.key == IssuersKey && e.words == nil:
			s.Issuers = e.issuers
			issuers.Origin, issuers.Place = origin, e.place
			return
		case e.key == AsyncSubagentsKey:
			errs = append(errs, fmt.Errorf("%s: this list can be set in config/api.json only", e.place))
			return
		case e.key == IssuersKey:
			errs = append(errs, fmt.Errorf("%s: this list can be set in config/api.json or the Caddyfile only", e.place))
			return
		}
		i := slices.IndexFunc(options, func(o option) bool { return o.Key == e.key })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: %w", e.place, Unknown(e.key)))
			return
		}
		if err := options[i].set(&s, e.words); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", e.place, e.key, err))
			return
		}
		values[i].Origin, values[i].Place = origin, e.place
		if origin == FromCaddyfile {
			values[i].Place = "" // the origin says it all
		}
	}
	layer := func(entries []entry, origin Origin, err error) {
		if err != nil {
			errs = append(errs, err)
		}
		for _, e := range entries {
			set(e, origin)
		}
	}

	entries, err := readFile(l.File)
	layer(entries, FromFile, err)
	if len(l.Caddyfile) > 0 {
		entries, err = document("Caddyfile", l.Caddyfile, true)
		for i := range entries { // the lines are those of the adapted JSON: of no use to anyone
			entries[i].place = "Caddyfile"
		}
		layer(entries, FromCaddyfile, err)
	}
	layer(fromEnv(l.Env), FromEnv, nil)
	layer(fromFlags(l.Flags), FromFlag, nil)

	if len(errs) == 0 {
		if err := s.check(); err != nil {
			errs = append(errs, err)
		}
	}
	for i, o := range options {
		values[i].Value = o.show(&s)
	}
	if text, err := json.Marshal(s.AsyncSubagents); err == nil && len(s.AsyncSubagents) > 0 {
		subagents.Value = string(text)
	}
	if text, err := json.Marshal(s.Issuers); err == nil && len(s.Issuers) > 0 {
		issuers.Value = string(text)
	}
	return s, append(values, issuers, subagents), errors.Join(errs...)
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
		if v, ok := env(o.Env()); ok && v != "" {
			if o.kind == kindReference { // the variable holds the secret itself
				v = "{env." + o.Env() + "}"
			}
			entries = append(entries, entry{key: o.Key, place: o.Env(), words: o.words(v)})
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
