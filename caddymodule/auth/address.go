package auth

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/policy/identity"
)

// addressed makes [identity.Address] the client's address as Caddy sees it, trusted proxies
// taken into account.
func addressed(r *http.Request) *http.Request {
	ip, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	if ip == "" || ip == identity.Address(r) {
		return r
	}
	return r.WithContext(identity.WithAddress(r.Context(), ip))
}

// doubt warns once when a trusted proxy may have passed on an address that the client made up:
// without trusted_proxies_strict Caddy believes the first address of several, and proxies add
// what they see at the end.
func (h *Handler) doubt(r *http.Request) {
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); !trusted {
		return
	}
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.TrustedProxiesStrict > 0 || !strings.Contains(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",") {
		return
	}
	h.doubted.Do(func() {
		h.logger.Warn("clients can make up their address: the proxy in front passes on what they send in X-Forwarded-For, and the first address in it counts; set trusted_proxies_strict in the options of the server")
	})
}
