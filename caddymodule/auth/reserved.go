package auth

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/svc-gateway/svc/internal/headername"
)

// reserved are the request headers that only this stage may set, in canonical form, by their folded
// names.
type reserved map[string]string

// reservedPrefix begins, folded, the names that are kept for this service (X-Svc-).
const reservedPrefix = "xsvc"

// shared are headers that this server sets as well, but which others in front of it may set too. They
// stay as they are written here, and in no other spelling.
var shared = map[string]string{
	headername.Fold(requestID):           requestID,
	headername.Fold("X-Forwarded-For"):   "X-Forwarded-For",
	headername.Fold("X-Forwarded-Host"):  "X-Forwarded-Host",
	headername.Fold("X-Forwarded-Proto"): "X-Forwarded-Proto",
}

func newReserved(n *IdentityHeaders, a *Assertion) reserved {
	names := []string{"Remote-User", "Remote-Role", "Remote-Groups", "Remote-Name", "Remote-Email", defaultAssertion}
	if n != nil {
		names = append(names, n.names()...)
	}
	if a != nil {
		names = append(names, a.header())
	}
	set := make(reserved, len(names))
	for _, name := range names {
		if name != "" {
			set[headername.Fold(name)] = http.CanonicalHeaderKey(name)
		}
	}
	return set
}

// has reports whether a server could take the name, given as it is and folded, for a reserved one.
func (s reserved) has(name string, folded []byte) bool {
	return s[string(folded)] != "" || len(folded) > len(reservedPrefix) && string(folded[:len(reservedPrefix)]) == reservedPrefix && prefixed(name)
}

// prefixed reports whether a name that begins with the folded prefix has a sign behind it, or none
// that says where a word ends: X-Svcx is somebody else's.
func prefixed(name string) bool {
	letters := 0
	for i := range len(name) {
		if isSign(rune(name[i])) {
			if letters == len(reservedPrefix) {
				return true
			}
		} else {
			letters++
		}
	}
	return !strings.ContainsFunc(name, isSign)
}

func isSign(r rune) bool { return r == '-' || odd(r) }

// respelt reports whether a server could take the name for one that others than clients set, while
// it is none of those.
func (s reserved) respelt(name string, folded []byte) bool {
	if right := cmp.Or(s[string(folded)], shared[string(folded)]); right != "" {
		return name != right
	}
	return strings.ContainsFunc(name, odd) && (ofProxies(string(folded)) || s.has(name, folded))
}

// forwardedPrefix begins, folded, the names of what proxies say about the way of a request.
const forwardedPrefix = "xforwarded"

// ofProxies reports whether a folded name is one that proxies set and servers believe. In a spelling
// that no proxy uses it is of a client.
func ofProxies(folded string) bool {
	return folded == "forwarded" || folded == "xrealip" || strings.HasPrefix(folded, forwardedPrefix)
}

// odd reports whether a character does not stand in the headers of an svc_auth.
func odd(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// strip removes what only this stage may set.
func (s reserved) strip(h http.Header) {
	var buf [64]byte
	for name := range h {
		if folded := headername.AppendFold(buf[:0], name); s.has(name, folded) || s.respelt(name, folded) {
			delete(h, name)
		}
	}
}

// stripSpellings is strip behind another svc_auth, whose headers stay: in another spelling they are
// of a client.
func (s reserved) stripSpellings(h http.Header) {
	var buf [64]byte
	for name := range h {
		if s.respelt(name, headername.AppendFold(buf[:0], name)) {
			delete(h, name)
		}
	}
}

// hopByHop are the options of Connection that mean something between a client and this server.
var hopByHop = map[string]bool{"close": true, "keep-alive": true, "te": true, "upgrade": true}

// guardConnection leaves in Connection what is about the connection. A proxy removes the headers
// that are listed there, and a client could make those vanish that this server sets, here or by
// another handler.
func guardConnection(h http.Header) {
	values := h["Connection"]
	if len(values) == 0 {
		return
	}
	var keep []string
	for option := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if option = strings.TrimSpace(option); hopByHop[strings.ToLower(option)] {
			keep = append(keep, option)
		}
	}
	if len(keep) == 0 {
		delete(h, "Connection")
		return
	}
	h["Connection"] = []string{strings.Join(keep, ", ")}
}
