package auth

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/http/httpguts"

	"github.com/svc-gateway/svc/internal/headername"
	"github.com/svc-gateway/svc/policy"
)

// IdentityHeaders names the request headers that tell the next handler who sends a request. An
// empty name leaves that header out.
type IdentityHeaders struct {
	// The user's name. Default: none, in a Caddyfile "Remote-User".
	User string `json:"user,omitempty"`

	// The role: admin, user or readonly. Default: none, in a Caddyfile "Remote-Role".
	Role string `json:"role,omitempty"`

	// The groups of a directory, joined with commas. Default: none, in a Caddyfile "Remote-Groups".
	Groups string `json:"groups,omitempty"`
}

func defaultIdentityHeaders() *IdentityHeaders {
	return &IdentityHeaders{User: "Remote-User", Role: "Remote-Role", Groups: "Remote-Groups"}
}

func (n *IdentityHeaders) names() []string { return []string{n.User, n.Role, n.Groups} }

// taken are headers that cannot carry an identity because they mean something else.
var taken = headername.Set(
	"Authorization", "Connection", "Content-Length", "Content-Type", "Cookie", "Host", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade", "X-Api-Key", requestID,
)

func (n *IdentityHeaders) check() error {
	used := map[string]bool{}
	for _, name := range n.names() {
		if name == "" {
			continue
		}
		if err := checkHeaderName(name); err != nil {
			return fmt.Errorf("identity_headers: %w", err)
		}
		if used[headername.Fold(name)] {
			return fmt.Errorf("identity_headers: %s is given twice", name)
		}
		used[headername.Fold(name)] = true
	}
	if len(used) == 0 {
		return errors.New("identity_headers: no header is named")
	}
	return nil
}

// checkHeaderName refuses names that cannot carry an identity.
func checkHeaderName(name string) error {
	switch {
	case !httpguts.ValidHeaderFieldName(name) || strings.ContainsAny(name, "_."):
		return fmt.Errorf("%q is not a header name: want letters, digits and hyphens", name)
	case taken[headername.Fold(name)]:
		return fmt.Errorf("%s already means something else", name)
	}
	return nil
}

func (n *IdentityHeaders) set(h http.Header, p policy.Principal) {
	for _, f := range [...]struct{ name, value string }{
		{n.User, p.User}, {n.Role, string(p.Role)}, {n.Groups, joined(p.Groups)},
	} {
		h.Del(f.name) // behind another svc_auth nobody has removed what a client sent
		if f.name != "" && f.value != "" {
			h.Set(f.name, f.value)
		}
	}
}

// joined makes one value of the groups. It leaves out those that would be read as another group,
// or as several: who may name a group in a directory must not choose what it is taken for.
func joined(groups []string) string {
	var b strings.Builder
	for _, g := range groups {
		if g == "" || strings.Contains(g, ",") || strings.TrimSpace(g) != g || strings.ContainsFunc(g, unicode.IsControl) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(g)
	}
	return b.String()
}

// stripCookie removes the cookie of that name and leaves the others as they are.
func stripCookie(h http.Header, name string) {
	values := h["Cookie"]
	if !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, name) }) {
		return
	}
	var keep []string
	for pair := range strings.SplitSeq(strings.Join(values, ";"), ";") {
		pair = strings.TrimSpace(pair)
		if key, _, _ := strings.Cut(pair, "="); pair != "" && strings.TrimSpace(key) != name {
			keep = append(keep, pair)
		}
	}
	if len(keep) == 0 {
		delete(h, "Cookie")
		return
	}
	h["Cookie"] = []string{strings.Join(keep, "; ")}
}

const requestID = "X-Request-Id"

// identify gives the request its id. That of a trusted proxy is kept.
func identify(w http.ResponseWriter, r *http.Request) []string {
	sent := r.Header[requestID]
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	if !trusted || len(sent) != 1 || !plausibleID(sent[0]) {
		id := ""
		if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
			id, _ = repl.GetString("http.request.uuid")
		}
		sent = []string{id}
		r.Header[requestID] = sent
	}
	w.Header()[requestID] = sent
	return sent
}

func plausibleID(id string) bool {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return len(id) >= 8 && len(id) <= 64
}
