package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/internal/credentials"
)

// openPaths are paths that need no principal: /favicon.ico, or /public/* for all below /public/.
//
// A path of a request is one of them only where no server can take it for another: what is not known
// to be harmless is not open, and needs a principal as anything else does.
type openPaths []string

// checkOpen refuses what is no open path.
func checkOpen(path string) error {
	literal, below := strings.CutSuffix(path, "/*")
	switch {
	case below && literal == "":
		return errors.New("/* opens everything: leave svc_auth out instead")
	case below:
		literal += "/x"
	}
	if !strings.HasPrefix(literal, "/") || strings.ContainsFunc(literal[1:], func(r rune) bool { return r != '/' && !unreserved(r) }) || !plain(literal, literal) {
		return fmt.Errorf("%q is not a path such as /favicon.ico or /public/*: want letters, digits, and -._~ between slashes, and * as the last part only", path)
	}
	return nil
}

// checkOpenPaths is checkOpen for several, beside the prefix of our own paths.
func checkOpenPaths(paths []string, prefix string) error {
	for i, p := range paths {
		if err := checkOpen(p); err != nil {
			return err
		}
		if strings.HasPrefix(p+"/", prefix+"/") {
			return fmt.Errorf("%s is below the prefix %s, where svc_auth answers itself: leave it out", p, prefix)
		}
		if slices.Contains(paths[:i], p) {
			return fmt.Errorf("%s is given twice", p)
		}
	}
	return nil
}

// has reports whether the path of a URL is one of them, as it stands on the wire.
func (o openPaths) has(u *url.URL) bool {
	wire := u.EscapedPath()
	return slices.ContainsFunc(o, func(p string) bool {
		if below, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(wire, below)
		}
		return wire == p
	}) && plain(wire, u.Path)
}

// opens reports whether a request needs no principal because of the option open. Neither opens a
// rewrite another path, nor does what the client asked for open what a rewrite made of it.
func (h *Handler) opens(r *http.Request) bool {
	if len(h.Open) == 0 || r.Method == http.MethodConnect || !openPaths(h.Open).has(r.URL) {
		return false
	}
	orig, ok := original(r)
	return !ok || openPaths(h.Open).has(orig.URL)
}

// serveUnknown passes a request on that needs no principal.
func (h *Handler) serveUnknown(rec *recorder, r *http.Request, next caddyhttp.Handler) error {
	keepToPath(r.Header)
	ctx := context.WithValue(credentials.Note(r.Context(), r.Header), unknownKey{}, true)
	h.stripCredentials(r.Header, h.foreign)
	return next.ServeHTTP(rec, r.WithContext(ctx))
}

// serveOpenPath passes a request for an open path on. It is accounted for as any other.
func (h *Handler) serveOpenPath(rec *recorder, r *http.Request, next caddyhttp.Handler) error {
	if err := h.audit.Healthy(r.Context()); err != nil {
		h.unaudited(rec, r, err)
		return nil
	}
	h.count(r.Context(), nobody, opened)
	return h.serveUnknown(rec, r, next)
}

// unknownKey marks the context of a request that has no principal and needs none.
type unknownKey struct{}

// needsNobody reports whether a request has no principal because its path needs none.
func needsNobody(r *http.Request) bool {
	marked, _ := r.Context().Value(unknownKey{}).(bool)
	return marked || forHealth(r)
}

// plain reports whether all servers agree on what a path means, which is wire as it was sent and path
// when it is decoded: they may decode it once, twice or not at all, merge slashes, go up, cut parameters
// off, normalise letters or drop what they cannot read.
func plain(wire, path string) bool {
	if strings.Count(wire, "/") != strings.Count(path, "/") || !strings.HasPrefix(path, "/") {
		return false
	}
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		if i == len(segments)-1 && s == "" {
			return true // it ends with a slash, or is one
		}
		if !plainSegment(s) {
			return false
		}
	}
	return true
}

// plainSegment reports whether what stands between two slashes is a name to every server.
func plainSegment(s string) bool {
	if s == "" || !utf8.ValidString(s) || s[0] == ' ' || strings.ContainsRune(". ", rune(s[len(s)-1])) {
		return false
	}
	readable := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return -1
		}
		return r
	}, s)
	if readable != "" && strings.Trim(readable, ".") == "" {
		return false // but for what some drop, these are dots
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		if r >= utf8.RuneSelf {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Nd, r)
		}
		return !unreserved(r) && !strings.ContainsRune("@$&'()+,=[] ", r)
	})
}

// unreserved reports whether a character means itself in a path (RFC 3986, 2.3).
func unreserved(r rune) bool { return !odd(r) || r == '.' || r == '_' || r == '~' }

func (h *Handler) readOpen(l directive.Line) error {
	var paths []string
	if err := directive.Words(&paths, checkOpen)(l); err != nil {
		return err
	}
	for _, p := range paths {
		if slices.Contains(h.Open, p) {
			return l.Errf("%s is given twice", p)
		}
		h.Open = append(h.Open, p)
	}
	return nil
}
