package auth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// metadataPath is where clients learn who gives out tokens for this host (RFC 9728, 3). The path of one
// resource may follow.
const metadataPath = "/.well-known/oauth-protected-resource"

// resource is what MCP clients are told that have no token for /mcp yet.
type resource struct {
	publicURL string   // as in auth.public_url
	paths     []string // where it is described
	servers   []string // identifiers of those who give out tokens
	scopes    []string // that they all take
}

// metadata is the document of RFC 9728, 2.
type metadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Name     string   `json:"resource_name"`
}

// newResource returns nil where identity providers let nobody in. A path that the option open has is of
// the next handler.
func newResource(s settings.Settings, open openPaths) *resource {
	if !s.Auth.Has(settings.ModeOIDC) {
		return nil
	}
	m := &resource{publicURL: s.Auth.PublicURL}
	for _, path := range []string{metadataPath, metadataPath + oidc.MCPPath} {
		if !open.has(&url.URL{Path: path}) {
			m.paths = append(m.paths, path)
		}
	}
	for _, i := range s.Issuers() {
		if i.NameClaim != "" { // it gives tokens to jobs
			continue
		}
		if m.servers = append(m.servers, i.URL); len(m.servers) == 1 {
			m.scopes = slices.Clone(i.Scopes)
		}
		m.scopes = slices.DeleteFunc(m.scopes, func(scope string) bool {
			return scope == "offline_access" || !slices.Contains(i.Scopes, scope) // how long a client has its token is its own affair
		})
	}
	return m
}

// describedAt reports whether the document is at a path.
func (m *resource) describedAt(path string) bool { return m != nil && slices.Contains(m.paths, path) }

// plainHost is a host that can stand in an address and a header as it is.
var plainHost = regexp.MustCompile(`^([0-9A-Za-z.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// address is what the client of a request has for a path: below auth.public_url, whatever the request
// calls the host. Without that setting the client is told what it said itself, if that is a host.
func (m *resource) address(r *http.Request, path string) string {
	at := m.publicURL
	if at == "" && plainHost.MatchString(r.Host) {
		at = "http://" + r.Host
		if secure(r) {
			at = "https://" + r.Host
		}
	}
	return oidc.Resource(at, outer(r)+path)
}

// point adds to the challenge of a request for /mcp where to learn who gives out tokens for it
// (RFC 9728, 5.1).
func (m *resource) point(r *http.Request, challenge string) string {
	if m == nil || !forMCP(r) || !strings.HasPrefix(challenge, "Bearer") || !m.describedAt(metadataPath+oidc.MCPPath) {
		return challenge
	}
	at := m.address(r, metadataPath+oidc.MCPPath)
	if at == "" {
		return challenge
	}
	return challenge + `, resource_metadata="` + at + `"`
}

// forMCP reports whether a request is for /mcp, before and after rewrites, to every server.
func forMCP(r *http.Request) bool {
	_, path := asked(r)
	return openPaths{oidc.MCPPath}.has(r.URL) && strings.HasSuffix(path, oidc.MCPPath) && !strings.HasPrefix(path, "//")
}

// audience returns what names the audience that is good for a request for /mcp alone. What a client
// calls the host names none: a token for another service would be good here.
func audience(publicURL string) func(*http.Request) string {
	return func(r *http.Request) string {
		if !forMCP(r) {
			return ""
		}
		return oidc.Resource(publicURL, outer(r)+oidc.MCPPath)
	}
}

// describe answers with the document. Pages of every origin may read it, so that clients work in browsers.
func (h *Handler) describe(rec *recorder, r *http.Request) {
	if err := h.audit.Healthy(r.Context()); err != nil {
		h.unaudited(rec, r, err)
		return
	}
	h.count(r.Context(), nobody, opened)
	header := rec.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	doc := metadata{
		Resource: h.resource.address(r, oidc.MCPPath), Servers: h.resource.servers,
		Methods: []string{"header"}, Scopes: h.resource.scopes, Name: "svc",
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "GET, HEAD")
		header.Set("Access-Control-Allow-Headers", "*") // MCP-Protocol-Version
		header.Set("Access-Control-Max-Age", "600")
		rec.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		refusal.Write(rec, r, problem.Problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Detail: "Allowed here: GET, HEAD, OPTIONS."})
		return
	}
	if doc.Resource == "" {
		refusal.Write(rec, r, problem.Problem{Status: http.StatusBadRequest, Code: "host_invalid", Detail: "The request's Host is not the name of a host."})
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "public, max-age=300")
	if h.resource.publicURL == "" {
		header.Set("Cache-Control", "no-store") // it repeats what the client said
	}
	_ = json.NewEncoder(rec).Encode(doc) // a client that has gone needs no answer
}
