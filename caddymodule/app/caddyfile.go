package app

import (
	"encoding/json"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/svc-gateway/svc/internal/settings"
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
//		oidc <name> {
//			<field> <value>…
//		}
//	}
//
// Sections, keys and values are those of the settings; lists take several values.
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // svc
	if d.NextArg() {
		return d.Errf("svc takes no argument, %q is one: open a block", d.Val())
	}
	doc := map[string]any{}
	var issuers []map[string]any
	for d.NextBlock(0) {
		section := d.Val()
		if section == settings.AsyncSubagentsKey {
			return d.Errf("%s is set in config/api.json, not in a Caddyfile", section)
		}
		if section == settings.IssuersKey {
			issuer, err := unmarshalIssuer(d)
			if err != nil {
				return err
			}
			issuers = append(issuers, issuer)
			doc[section] = issuers
			continue
		}
		if !settings.IsSection(section) {
			return d.Err(settings.Unknown(section).Error())
		}
		if _, twice := doc[section]; twice {
			return d.Errf("section %s is there twice: put its settings into one block", section)
		}
		values, err := unmarshalShorthand(d, section)
		if err != nil {
			return err
		}
		if err := unmarshalSection(d, section, values); err != nil {
			return err
		}
		doc[section] = values
	}
	sections, err := json.Marshal(doc)
	if err != nil {
		return d.WrapErr(err)
	}
	a.sections = sections
	return nil
}

// unmarshalIssuer reads an identity provider: its name and a block of fields.
func unmarshalIssuer(d *caddyfile.Dispenser) (map[string]any, error) {
	if !d.NextArg() {
		return nil, d.Errf("%s: a name is missing: write %[1]s <name> and a block", settings.IssuersKey)
	}
	if err := settings.CheckIssuerName(d.Val()); err != nil {
		return nil, d.Errf("%s: %v", settings.IssuersKey, err)
	}
	values := map[string]any{"name": d.Val()}
	if d.NextArg() {
		return nil, d.Errf("%s takes one name, %q is another", settings.IssuersKey, d.Val())
	}
	nesting := d.Nesting()
	for d.NextBlock(nesting) {
		name := d.Val()
		if _, twice := values[name]; twice {
			return nil, d.Errf("%s.%s is set twice", settings.IssuersKey, name)
		}
		value, err := settings.ParseIssuerField(name, d.RemainingArgs())
		if err != nil {
			return nil, d.Err(err.Error())
		}
		values[name] = value
		if d.NextBlock(nesting + 1) {
			return nil, d.Errf("%s.%s takes no block", settings.IssuersKey, name)
		}
	}
	return values, nil
}

// unmarshalShorthand reads the words behind the name of a section.
func unmarshalShorthand(d *caddyfile.Dispenser, section string) (map[string]any, error) {
	words, keys := d.RemainingArgs(), settings.Shorthand(section)
	if len(words) > 0 && len(keys) == 0 {
		return nil, d.Errf("section %s takes no argument, %q is one: open a block", section, words[0])
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
		value, err := parse(d, section+"."+name, words[:n])
		if err != nil {
			return nil, err
		}
		values[name], words = value, words[n:]
	}
	return values, nil
}

// unmarshalSection reads the block of a section and adds to its values.
func unmarshalSection(d *caddyfile.Dispenser, section string, values map[string]any) error {
	nesting := d.Nesting()
	for d.NextBlock(nesting) {
		name := d.Val()
		key := section + "." + name
		if _, twice := values[name]; twice {
			return d.Errf("%s is set twice", key)
		}
		value, err := parse(d, key, d.RemainingArgs())
		if err != nil {
			return err
		}
		values[name] = value
		if d.NextBlock(nesting + 1) {
			return d.Errf("%s takes no block", key)
		}
	}
	return nil
}

// parse is [settings.Parse] with errors that say where.
func parse(d *caddyfile.Dispenser, key string, words []string) (any, error) {
	value, err := settings.Parse(key, words)
	if err == nil {
		return value, nil
	}
	if text := err.Error(); strings.HasPrefix(text, key) {
		return nil, d.Err(text)
	}
	return nil, d.Errf("%s: %v", key, err)
}

var (
	_ caddyfile.Unmarshaler = (*App)(nil)
	_ caddy.Module          = (*App)(nil)
)
