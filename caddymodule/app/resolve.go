package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/internal/settings"
)

// LocateHome finds the data folder of this process.
func LocateHome() (settings.Home, error) {
	return settings.Locate(os.LookupEnv, filepath.Join(caddy.AppDataDir(), "svc"))
}

// IsDefaultHome reports whether a data folder is the one that this process has when SVC_HOME is not set.
func IsDefaultHome(home settings.Home) bool {
	env := func(name string) (string, bool) {
		if name == "SVC_HOME" {
			return "", false
		}
		return os.LookupEnv(name)
	}
	other, err := settings.Locate(env, filepath.Join(caddy.AppDataDir(), "svc"))
	return err == nil && other == home
}

// Sections returns the app's part of a configuration in Caddy's JSON; nothing when it has none.
func Sections(config []byte) (json.RawMessage, error) {
	var doc struct {
		Apps struct {
			Svc json.RawMessage `json:"svc"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(config, &doc); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return doc.Apps.Svc, nil
}

// Resolve resolves the settings with all layers of this process. sections is the JSON of the
// app svc and may be empty; placeholders in it are replaced. The project root is resolved too.
func Resolve(home settings.Home, sections json.RawMessage) (settings.Settings, []settings.Value, error) {
	sections, err := replacePlaceholders(sections)
	if err != nil {
		return settings.Settings{}, nil, err
	}
	s, values, err := settings.Resolve(settings.Layers{
		Flags: flags(), Env: os.LookupEnv, Caddyfile: sections, File: home.Config(),
	})
	if err != nil {
		return s, values, err
	}
	started, err := os.Getwd()
	if err != nil {
		started = "" // the folder is gone: the workspace stands in
	}
	s.Runtime.ProjectRoot, err = settings.ProjectRoot(s.Runtime.ProjectRoot, started, home)
	for i := range values {
		if values[i].Key == "runtime.project_root" {
			values[i].Value = s.Runtime.ProjectRoot
		}
	}
	return s, values, err
}

// replacePlaceholders expands placeholders in the strings of a JSON document. An unknown or
// empty one is an error.
func replacePlaceholders(doc json.RawMessage) (json.RawMessage, error) {
	if !strings.Contains(string(doc), "{env.") && !strings.Contains(string(doc), "{file.") &&
		!strings.Contains(string(doc), "{system.") {
		return doc, nil
	}
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, fmt.Errorf("reading the svc app's settings: %w", err)
	}
	v, err := replaceIn("", v, caddy.NewReplacer())
	if err != nil {
		return nil, settings.Placed(err, nil, settings.PlacesIn(doc))
	}
	return json.Marshal(v)
}

func replaceIn(key string, v any, r *caddy.Replacer) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		if v, err = r.ReplaceOrErr(v, true, true); err != nil {
			return nil, settings.About(fmt.Errorf("%s: replacing placeholders in the svc app's settings: %w", key, err), key)
		}
		return v, nil
	case []any:
		for i := range v {
			at := key
			if _, object := v[i].(map[string]any); object {
				at = fmt.Sprintf("%s[%d]", key, i)
			}
			if v[i], err = replaceIn(at, v[i], r); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if settings.IsReference(k) {
				continue // read where the secret is used, so that no setting holds one
			}
			if v[k], err = replaceIn(strings.TrimPrefix(key+"."+k, "."), v[k], r); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
