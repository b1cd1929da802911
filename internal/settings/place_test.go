package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

// What concerns several settings is told with the place of the one that was set, in whatever layer.
func TestErrorsHavePlaces(t *testing.T) {
	api := file(t, "{\n\"auth\": {\n\"mode\": \"ldap\"\n}\n}")
	for name, tt := range map[string]struct {
		layers settings.Layers
		want   string
	}{
		"Caddyfile": {
			settings.Layers{Caddyfile: []byte(`{"auth":{"mode":"ldap"},"places":{"auth":"Caddyfile:3","auth.mode":"Caddyfile:4"}}`)},
			"Caddyfile:4: ldap.url is missing",
		},
		"the section of the missing one": {
			settings.Layers{Caddyfile: []byte(`{"auth":{"mode":"ldap"},"ldap":{},"places":{"auth.mode":"sites/a:4","ldap":"sites/a:6"}}`)},
			"sites/a:6: ldap.url is missing",
		},
		"without places": {settings.Layers{Caddyfile: []byte(`{"auth":{"mode":"ldap"}}`)}, "ldap.url is missing"},
		"a variable":     {settings.Layers{Env: env(map[string]string{"SVC_AUTH_MODE": "ldap"})}, "SVC_AUTH_MODE: ldap.url is missing"},
		"a flag":         {settings.Layers{Flags: map[string]string{"auth.mode": "ldap"}}, "--set auth.mode: ldap.url is missing"},
		"config/api.json": {
			settings.Layers{File: api}, api + ":3: ldap.url is missing",
		},
		"a stronger layer": {
			settings.Layers{
				Env:       env(map[string]string{"SVC_AUTH_MODE": "ldap"}),
				Caddyfile: []byte(`{"auth":{"mode":"token"},"places":{"auth.mode":"Caddyfile:4"}}`),
			},
			"SVC_AUTH_MODE: ldap.url is missing",
		},
		"a value": {
			settings.Layers{Caddyfile: []byte(`{"limits":{"body_bytes":"lots"},"places":{"limits.body_bytes":"Caddyfile:7"}}`)},
			"Caddyfile:7: limits.body_bytes: ",
		},
		"a field": {
			settings.Layers{Caddyfile: []byte(`{"oidc":[{"name":"a","issuer":"nonsense"}],"places":{"oidc[0]":"Caddyfile:7","oidc[0].issuer":"Caddyfile:8"}}`)},
			"Caddyfile:8: oidc[0]: issuer: ",
		},
		"an object": {
			settings.Layers{Caddyfile: []byte(`{"oidc":[{"name":"a"}],"places":{"oidc[0]":"Caddyfile:7"}}`)},
			"Caddyfile:7: oidc a: issuer is missing",
		},
	} {
		_, _, err := settings.Resolve(tt.layers)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s…", name, err, tt.want)
		}
	}
}

func TestPlacesAreNoSetting(t *testing.T) {
	doc := []byte(`{"auth":{"mode":"token"},"places":{"auth.mode":"Caddyfile:4"}}`)
	_, values, err := settings.Resolve(settings.Layers{Caddyfile: doc})
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Value{Key: "auth.mode", Value: "token", Origin: settings.FromCaddyfile, Place: "Caddyfile:4"}
	if d := cmp.Diff(want, value(values, "auth.mode")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, _, err := settings.Resolve(settings.Layers{File: file(t, string(doc))}); err == nil || !strings.Contains(err.Error(), "places is not a setting") {
		t.Errorf("in config/api.json: got %v", err)
	}
}
