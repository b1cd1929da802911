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

	"github.com/svc-gateway/svc/policy"
)

// IdentityHeaders names the request headers that tell the next handler who sends a request. An
// empty name leaves that header out.
type IdentityHeaders struct {
	// The user's name. Default in a Caddyfile: Remote-User.
	User string `json:"user,omitempty"`

	// The role: admin, user or readonly. Default in a Caddyfile: Remote-Role.
	Role string `json:"role,omitempty"`

	// The groups of a directory, joined with commas. Default in a Caddyfile: Remote-Groups.
	Groups string `json:"groups,omitempty"`
}

func defaultIdentityHeaders() *IdentityHeaders {
	return &IdentityHeaders{User: "Remote-User", Role: "Remote-Role", Groups: "Remote-Groups"}
}

func (n *IdentityHeaders) names() []string { return []string{n.User, n.Role, n.Groups} }

// taken are headers that cannot carry an identity because they mean something else.
var taken = []string{
	"Authorization", "Connection", "Content-Length", "Content-Type", "Cookie", "Host", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade", "X-Api-Key", "X-Request-Id",
}

func (n *IdentityHeaders) check() error {
	used := map[string]bool{}
	for _, name := range n.names() {
		if name == "" {
			continue
		}
		if err := checkHeaderName(name); err != nil {
			return fmt.Errorf("identity_headers: %w", err)
		}
		canonical := http.CanonicalHeaderKey(name)
		if used[canonical] {
			return fmt.Errorf("identity_headers: %s is given twice", name)
		}
		used[canonical] = true
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
	case slices.Contains(taken, http.CanonicalHeaderKey(name)):
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

// reserved are the headers that only this stage may set, in canonical form.
type reserved map[string]bool

const reservedPrefix = "X-Svc-"

func newReserved(n *IdentityHeaders, a *Assertion) reserved {
	set := reserved{"Remote-User": true, "Remote-Role": true, "Remote-Groups": true, "Remote-Name": true, "Remote-Email": true}
	if n != nil {
		for _, name := range n.names() {
			set[http.CanonicalHeaderKey(name)] = true
		}
	}
	if a != nil {
		set[a.header()] = true
	}
	delete(set, "")
	return set
}

// has reports whether a server could take the name for a reserved one. CGI and its relatives
// do not tell hyphens, underscores and dots apart.
func (s reserved) has(name string) bool {
	if strings.ContainsAny(name, "_.") {
		name = strings.Map(func(r rune) rune {
			if r == '_' || r == '.' {
				return '-'
			}
			return r
		}, name)
	}
	name = http.CanonicalHeaderKey(name)
	return s[name] || strings.HasPrefix(name, reservedPrefix)
}

func (s reserved) strip(h http.Header) {
	for name := range h {
		if s.has(name) {
			delete(h, name)
		}
	}
}

// stripSpellings is strip behind another svc_auth, whose headers stay: it never sets a name with
// such characters, so those are of a client.
func (s reserved) stripSpellings(h http.Header) {
	for name := range h {
		if strings.ContainsAny(name, "_.") && s.has(name) {
			delete(h, name)
		}
	}
}

// guardConnection drops reserved names from Connection: a proxy removes the headers listed
// there, and a client could make ours vanish.
func (s reserved) guardConnection(h http.Header) {
	values := h["Connection"]
	if len(values) == 0 {
		return
	}
	var keep []string
	for option := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if option = strings.TrimSpace(option); option != "" && !s.has(option) {
			keep = append(keep, option)
		}
	}
	if len(keep) == 0 {
		delete(h, "Connection")
		return
	}
	h["Connection"] = []string{strings.Join(keep, ", ")}
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
