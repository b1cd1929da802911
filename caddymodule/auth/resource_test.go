package auth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

const wellKnown = "/.well-known/oauth-protected-resource"

// mcpIssuer is issuer with the address that clients know the service by, and jobs of a second provider.
func mcpIssuer(t *testing.T) (*oidctest.Provider, string) {
	t.Helper()
	p, settings := issuer(t)
	return p, strings.Replace(settings, "mode token oidc", "mode token oidc\npublic_url https://GW.example.com:443", 1) +
		"\noidc ci {\nissuer https://ci.example.com\naudience gw\nname_claim project_id\nuser_groups *\n}"
}

func TestResourceMetadata(t *testing.T) {
	p, public := mcpIssuer(t)
	_, local := issuer(t)
	local = strings.Replace(local, "issuer http", "scopes openid groups offline_access\nissuer http", 1)
	for name, tt := range map[string]struct {
		svc, site, path, host string
		status                int
		cache, want           string
	}{
		"of the host": {public, "svc_auth", wellKnown, "", 200, "public, max-age=300", `{"resource":"https://gw.example.com/mcp","authorization_servers":["` + p.URL + `"],"bearer_methods_supported":["header"],"scopes_supported":["openid","profile","email"],"resource_name":"svc"}`},
		"of /mcp":     {public, "svc_auth", wellKnown + "/mcp", "", 200, "public, max-age=300", `"resource":"https://gw.example.com/mcp"`},
		"a false host with auth.public_url": {
			public, "svc_auth", wellKnown + "/mcp", "evil.example", 200, "public, max-age=300", `"resource":"https://gw.example.com/mcp"`,
		},
		"without auth.public_url": {local, "svc_auth", wellKnown + "/mcp", "gw.test:1", 200, "no-store", `"resource":"http://gw.test:1/mcp"`},
		"scopes of the settings":  {local, "svc_auth", wellKnown, "", 200, "no-store", `"scopes_supported":["openid","groups"]`},
		"below a prefix":          {public, "handle_path /gw/* {\nsvc_auth\n}", "/gw" + wellKnown + "/mcp", "", 200, "public, max-age=300", `"resource":"https://gw.example.com/gw/mcp"`},
		"after a rewrite":         {public, "rewrite * /index.html\nsvc_auth", wellKnown, "", 200, "public, max-age=300", `"resource":"https://gw.example.com/mcp"`},
		"of something else":       {public, "svc_auth", wellKnown + "/other", "", 401, "", "credentials_missing"},
		"somebody else's":         {public, "svc_auth {\nopen " + wellKnown + "/mcp\n}\nrespond theirs", wellKnown + "/mcp", "", 200, "", "theirs"},
		"without oidc":            {"auth {\nmode token\n}", "svc_auth", wellKnown + "/mcp", "", 401, "", "credentials_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			name, _, _ := strings.Cut(tt.host, ":")
			srv := caddytest.Start(t, caddytest.Config{Svc: tt.svc, Site: tt.site, Host: name})
			srv.Token = ""
			r := srv.Request(http.MethodGet, tt.path, "", "Origin", "https://any.example")
			if tt.host != "" {
				r.Host = tt.host
			}
			resp, body := srv.Send(r)
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) || resp.Header.Get("Cache-Control") != tt.cache && tt.status == 200 && tt.cache != "" {
				t.Errorf("got %s, %q: %s\nwant %d, %q, %s", resp.Status, resp.Header.Get("Cache-Control"), body, tt.status, tt.cache, tt.want)
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); tt.cache != "" && got != "*" {
				t.Errorf("who may read it: got %q, want all", got)
			}
		})
	}
}

func TestResourceMetadataMethods(t *testing.T) {
	_, settings := mcpIssuer(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth", Svc: settings + "\ncors {\norigins https://chat.example\n}"})
	srv.Token = ""
	got := map[string]string{}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost} {
		resp, _ := srv.Do(method, wellKnown, "", "Origin", "https://any.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "mcp-protocol-version")
		got[method] = strings.Join([]string{resp.Status[:3], resp.Header.Get("Access-Control-Allow-Origin"), resp.Header.Get("Access-Control-Allow-Headers"), resp.Header.Get("Access-Control-Allow-Credentials")}, " ")
	}
	want := map[string]string{"GET": "200 *  ", "HEAD": "200 *  ", "OPTIONS": "204 * * ", "POST": "405 *  "}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	srv.Eventually("the requests are on record", func() bool {
		return len(srv.Audit("select path from audit_events where type = 'request' and path = '"+wellKnown+"'")) == len(want)
	})
}

// A client without a token is told at /mcp where it gets one, whatever it calls the host.
func TestChallengePointsToMetadata(t *testing.T) {
	_, public := mcpIssuer(t)
	_, local := issuer(t)
	const told = `Bearer realm="svc", resource_metadata="https://gw.example.com/.well-known/oauth-protected-resource/mcp"`
	for name, tt := range map[string]struct {
		svc, site, path, host string
		want                  []string
	}{
		"at /mcp":              {public, "svc_auth", "/mcp", "evil.example", []string{told}},
		"elsewhere":            {public, "svc_auth", "/mcp/", "", []string{`Bearer realm="svc"`}},
		"in another spelling":  {public, "svc_auth", "/%6dcp", "", []string{`Bearer realm="svc"`}},
		"as a rewrite has it":  {public, "rewrite * /mcp\nsvc_auth", "/other", "", []string{`Bearer realm="svc"`}},
		"below a prefix":       {public, "handle_path /gw/* {\nsvc_auth\n}", "/gw/mcp", "", []string{strings.Replace(told, "/.well", "/gw/.well", 1)}},
		"without a public_url": {local, "svc_auth", "/mcp", "gw.test", []string{`Bearer realm="svc", resource_metadata="http://gw.test/.well-known/oauth-protected-resource/mcp"`}},
		"without oidc":         {"auth {\nmode token\n}", "svc_auth", "/mcp", "", []string{`Bearer realm="svc"`}},
		"described elsewhere":  {public, "svc_auth {\nopen /.well-known/*\n}", "/mcp", "", []string{`Bearer realm="svc"`}},
	} {
		t.Run(name, func(t *testing.T) {
			name, _, _ := strings.Cut(tt.host, ":")
			srv := caddytest.Start(t, caddytest.Config{Svc: tt.svc, Site: tt.site, Host: name})
			srv.Token = ""
			r := srv.Request(http.MethodPost, tt.path, "{}")
			if tt.host != "" {
				r.Host = tt.host
			}
			resp, body := srv.Send(r)
			if d := cmp.Diff(tt.want, resp.Header.Values("WWW-Authenticate")); d != "" || resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("got %s: %s (-want +got):\n%s", resp.Status, body, d)
			}
		})
	}
}

// A token that is made for /mcp of this host is good at /mcp, and nowhere else, and no name that a client
// gives the host makes another one good.
func TestTokenForMCP(t *testing.T) {
	p, public := mcpIssuer(t)
	_, local := issuer(t)
	const here = "https://gw.example.com/mcp"
	for name, tt := range map[string]struct {
		svc, site, aud, path, host string
		want                       int
	}{
		"at /mcp":                      {public, "svc_auth", here, "/mcp", "", 200},
		"at /mcp, by another name":     {public, "svc_auth", here, "/mcp", "evil.example", 200},
		"elsewhere":                    {public, "svc_auth", here, "/threads", "", 401},
		"at our own pages":             {public, "svc_auth", here, "/auth/whoami", "", 401},
		"at a ticket":                  {public, "svc_auth", here, "/auth/ticket", "", 401},
		"below":                        {public, "svc_auth", here, "/mcp/x", "", 401},
		"in another spelling":          {public, "svc_auth", here, "/%6dcp", "", 401},
		"rewritten to /mcp":            {public, "rewrite /admin /mcp\nsvc_auth", here, "/admin", "", 401},
		"rewritten from /mcp":          {public, "rewrite /mcp /admin\nsvc_auth", here, "/mcp", "", 401},
		"below a prefix":               {public, "handle_path /gw/* {\nsvc_auth\nrespond ok\n}", "https://gw.example.com/gw/mcp", "/gw/mcp", "", 200},
		"for another prefix":           {public, "handle_path /gw/* {\nsvc_auth\nrespond ok\n}", here, "/gw/mcp", "", 401},
		"for another host, called so":  {public, "svc_auth", "https://evil.example/mcp", "/mcp", "evil.example", 401},
		"for the client, at /mcp":      {public, "svc_auth", oidctest.ClientID, "/mcp", "", 200},
		"no public_url, the true host": {local, "svc_auth", "http://evil.example/mcp", "/mcp", "evil.example", 401},
		"no public_url, no host":       {local, "svc_auth", "/mcp", "/mcp", "", 401},
	} {
		t.Run(name, func(t *testing.T) {
			site := tt.site
			if !strings.Contains(site, "respond") {
				site += "\nrespond ok"
			}
			srv := caddytest.Start(t, caddytest.Config{Svc: tt.svc, Site: site, Host: tt.host})
			r := srv.Request(http.MethodPost, tt.path, "{}", "Authorization", "Bearer "+p.Token(map[string]any{"aud": tt.aud}))
			if tt.host != "" {
				r.Host = tt.host
			}
			resp, body := srv.Send(r)
			if resp.StatusCode != tt.want {
				t.Errorf("got %s, want %d: %s", resp.Status, tt.want, body)
			}
			challenge := resp.Header.Get("WWW-Authenticate")
			if tt.want == http.StatusUnauthorized && !strings.Contains(challenge, `error="invalid_token"`) {
				t.Errorf("got %q, want invalid_token", challenge)
			}
		})
	}
}
