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
//	}
//
// Sections, keys and values are those of the settings; lists take several values.
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // svc
	if d.NextArg() {
		return d.Errf("svc takes no argument, %q is one: open a block", d.Val())
	}
	doc := map[string]map[string]any{}
	for d.NextBlock(0) {
		section := d.Val()
		if section == settings.AsyncSubagentsKey {
			return d.Errf("%s is set in config/api.json, not in a Caddyfile", section)
		}
		if !settings.IsSection(section) {
			return d.Err(settings.Unknown(section).Error())
		}
		if _, twice := doc[section]; twice {
			return d.Errf("section %s is there twice: put its settings into one block", section)
		}
		if d.NextArg() {
			return d.Errf("section %s takes no argument, %q is one: open a block", section, d.Val())
		}
		values, err := unmarshalSection(d, section)
		if err != nil {
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

func unmarshalSection(d *caddyfile.Dispenser, section string) (map[string]any, error) {
	values := map[string]any{}
	nesting := d.Nesting()
	for d.NextBlock(nesting) {
		name := d.Val()
		key := section + "." + name
		if _, twice := values[name]; twice {
			return nil, d.Errf("%s is set twice", key)
		}
		value, err := settings.Parse(key, d.RemainingArgs())
		if err != nil {
			if text := err.Error(); strings.HasPrefix(text, key) {
				return nil, d.Err(text)
			}
			return nil, d.Errf("%s: %v", key, err)
		}
		values[name] = value
		if d.NextBlock(nesting + 1) {
			return nil, d.Errf("%s takes no block", key)
		}
	}
	return values, nil
}

var (
	_ caddyfile.Unmarshaler = (*App)(nil)
	_ caddy.Module          = (*App)(nil)
)
