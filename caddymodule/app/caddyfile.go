package app

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity/ldap"
)

func init() {
	httpcaddyfile.RegisterGlobalOption("svc", parseGlobalOption)
}

func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		d.Next()
		return nil, d.Err("svc is set twice: put all sections into one block")
	}
	a := new(App)
	if err := a.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "svc", Value: a.sections}, nil
}

// UnmarshalCaddyfile sets up the app from Caddyfile tokens. Syntax:
//
//	svc {
//		<section> {
//			<key> <value>…
//		}
//		bus <kind> [<address>…] [{
//			<key> <value>…
//		}]
//		<list> <name> {
//			<field> <value>…
//		}
//	}
//
// Sections, keys, lists of objects, fields and values are those of the settings; lists of words
// take several values.
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // svc
	if d.NextArg() {
		return d.Errf("svc takes no argument, found %q: open a block", d.Val())
	}
	doc, places := map[string]any{}, settings.Places{}
	var whole []func() error // checks that need all of a block
	for d.NextBlock(0) {
		if err := unmarshalBlock(d, doc, places, &whole); err != nil {
			return err
		}
	}
	for _, check := range whole {
		if err := check(); err != nil {
			return err
		}
	}
	if len(places) > 0 {
		doc["places"] = places
	}
	sections, err := json.Marshal(doc)
	if err != nil {
		return d.WrapErr(err)
	}
	a.sections = sections
	return nil
}

// unmarshalBlock puts a section or an object of a list into the document.
func unmarshalBlock(d *caddyfile.Dispenser, doc map[string]any, places settings.Places, whole *[]func() error) error {
	word, begin := d.Val(), *d // of which the errors have the line
	if l, ok := settings.ListOf(word); ok {
		before, _ := doc[l.Key()].([]map[string]any)
		object, err := unmarshalObject(d, l, before, places)
		if err != nil {
			return err
		}
		doc[l.Key()] = append(before, object)
		*whole = append(*whole, func() error {
			if err := l.CheckObject(object); err != nil {
				return begin.Err(err.Error())
			}
			return nil
		})
		return nil
	}
	if !settings.IsSection(word) {
		return d.Err(settings.UnknownBlock(word).Error())
	}
	if _, twice := doc[word]; twice {
		return d.Errf("section %s appears twice: put its settings into one block", word)
	}
	places[word] = place(d)
	values, err := unmarshalShorthand(d, word)
	if err != nil {
		return err
	}
	doc[word] = values
	return unmarshalValues(d, word, values, func(name string, words []string) (any, error) {
		if word == "ldap" {
			if err := ldap.CheckSetting(name, words); err != nil {
				return nil, fmt.Errorf("ldap.%s: %w", name, err)
			}
		}
		places[word+"."+name] = place(d)
		return settings.Parse(word+"."+name, words)
	})
}

// place is where the dispenser is.
func place(d *caddyfile.Dispenser) string { return fmt.Sprintf("%s:%d", d.File(), d.Line()) }

// unmarshalShorthand reads the words behind the name of a section.
func unmarshalShorthand(d *caddyfile.Dispenser, section string) (map[string]any, error) {
	words, keys := d.RemainingArgs(), settings.Shorthand(section)
	if len(words) > 0 && len(keys) == 0 {
		return nil, d.Errf("section %s takes no argument, found %q: open a block", section, words[0])
	}
	values := map[string]any{}
	for i, name := range keys {
		if len(words) == 0 {
			break
		}
		n := 1
		if i == len(keys)-1 {
			n = len(words)
		}
		value, err := settings.Parse(section+"."+name, words[:n])
		if err != nil {
			return nil, d.Err(err.Error())
		}
		values[name], words = value, words[n:]
	}
	return values, nil
}

// unmarshalObject reads an object of a list that comes after others: its name and a block of fields.
func unmarshalObject(d *caddyfile.Dispenser, l settings.List, others []map[string]any, places settings.Places) (map[string]any, error) {
	key := fmt.Sprintf("%s[%d]", l.Key(), len(others))
	places[key] = place(d)
	if !d.NextArg() {
		return nil, d.Errf("%s: a name is missing: write %[1]s <name> and a block", l.Block())
	}
	name := d.Val()
	if err := l.CheckName(name); err != nil {
		return nil, d.Errf("%s: %v", l.Block(), err)
	}
	if slices.ContainsFunc(others, func(o map[string]any) bool { return o["name"] == name }) {
		return nil, d.Errf("%s %s appears twice: give each its own name", l.Block(), name)
	}
	if d.NextArg() {
		return nil, d.Errf("%s takes one name, found %q as well", l.Block(), d.Val())
	}
	values := map[string]any{}
	parse := func(name string, words []string) (any, error) {
		places[key+"."+name] = place(d)
		return l.ParseField(name, words)
	}
	if err := unmarshalValues(d, l.Block(), values, parse); err != nil {
		return nil, err
	}
	values["name"] = name
	return values, nil
}

// unmarshalValues reads a block of values that belong to what, each of them with parse.
func unmarshalValues(d *caddyfile.Dispenser, what string, values map[string]any, parse func(string, []string) (any, error)) error {
	nesting := d.Nesting()
	for d.NextBlock(nesting) {
		name := d.Val()
		if _, twice := values[name]; twice {
			return d.Errf("%s.%s is set twice", what, name)
		}
		value, err := parse(name, d.RemainingArgs())
		if err != nil {
			return d.Err(err.Error())
		}
		values[name] = value
		if d.NextBlock(nesting + 1) {
			return d.Errf("%s.%s takes no block", what, name)
		}
	}
	return nil
}

var (
	_ caddyfile.Unmarshaler = (*App)(nil)
	_ caddy.Module          = (*App)(nil)
)
