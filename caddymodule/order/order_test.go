package order_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	"github.com/google/go-cmp/cmp"

	_ "github.com/svc-gateway/svc/caddymodule/order"
)

// stage stands in for each of our directives, which this package does not import.
type stage struct{ name string }

func (s stage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: caddy.ModuleID("http.handlers." + s.name), New: func() caddy.Module { return stage{name: s.name} }}
}

func TestOrder(t *testing.T) {
	names := []string{"svc_agents", "svc_stream", "svc_redact", "svc_scan", "svc_auth"}
	for _, name := range names {
		caddy.RegisterModule(stage{name: name})
		httpcaddyfile.RegisterDirective(name, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
			return []httpcaddyfile.ConfigValue{{Class: "route", Value: caddyhttp.Route{
				HandlersRaw: []json.RawMessage{[]byte(`{"handler":"` + name + `"}`)},
			}}}, nil
		})
	}
	input := ":2280 {\n" + strings.Join(names, "\n") + "\nrespond hello\nencode gzip\npush\nbasic_auth {\na $2a$14$x\n}\n}"
	adapter := caddyfile.Adapter{ServerType: httpcaddyfile.ServerType{}}
	out, _, err := adapter.Adapt([]byte(input), nil)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					Routes []struct {
						Handle []struct {
							Handler string `json:"handler"`
						} `json:"handle"`
					} `json:"routes"`
				} `json:"servers"`
			} `json:"http"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range doc.Apps.HTTP.Servers["srv0"].Routes {
		for _, h := range r.Handle {
			got = append(got, h.Handler)
		}
	}
	want := []string{"svc_auth", "authentication", "encode", "svc_scan", "svc_redact", "svc_stream", "push", "svc_agents", "static_response"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("order of the handlers (-want +got):\n%s", d)
	}
}
