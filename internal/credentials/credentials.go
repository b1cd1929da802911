// Package credentials knows what a request shows to prove who sends it. It reads the header
// Authorization, and it keeps all that was shown for stages that see the request only after the
// credentials were taken out of it: svc_redact looks for them in the answer.
//
//	token, ok := credentials.Bearer(r.Header.Get("Authorization"))
//
//	ctx := credentials.Note(r.Context(), r.Header) // before anything is removed
//	values := credentials.From(r.WithContext(ctx)) // later, in another stage
//
// The values live as long as the context. Requests may be used by many goroutines; a header must
// not change while it is noted.
package credentials

import (
	"context"
	"net/http"
	"strings"
)

type (
	key   struct{}
	keyed struct{}
)

// apiKey is the header of keys that are no part of Authorization.
const apiKey = "X-Api-Key"

// Keyed reports whether a request shows a key in X-Api-Key, or did when it was noted.
func Keyed(r *http.Request) bool {
	return r.Context().Value(keyed{}) != nil || r.Header.Get(apiKey) != ""
}

// Note returns a context that holds the credentials in a request's header: the token or password
// of Authorization and Proxy-Authorization, keys in X-Api-Key and its relatives, and the values of
// cookies that name a session or a token. Without any, ctx comes back as it is.
func Note(ctx context.Context, h http.Header) context.Context {
	if h.Get(apiKey) != "" {
		ctx = context.WithValue(ctx, keyed{}, true)
	}
	before, _ := ctx.Value(key{}).([]string)
	values := appendAll(before[:len(before):len(before)], h)
	if len(values) == len(before) {
		return ctx
	}
	return context.WithValue(ctx, key{}, values)
}

// From returns the credentials that were noted, and those that the request still has.
func From(r *http.Request) []string {
	noted, _ := r.Context().Value(key{}).([]string)
	return appendAll(noted[:len(noted):len(noted)], r.Header)
}

func appendAll(values []string, h http.Header) []string {
	for _, name := range [...]string{"Authorization", "Proxy-Authorization"} {
		for _, v := range h[name] {
			values = appendAuthorization(values, v)
		}
	}
	for _, name := range [...]string{apiKey, "Api-Key", "X-Auth-Token", "X-Goog-Api-Key"} {
		values = append(values, h[name]...)
	}
	for _, line := range h["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
			if ok && session(name) {
				values = append(values, strings.Trim(value, `"`))
			}
		}
	}
	return values
}

// appendAuthorization appends the secrets of a value of Authorization: all after the scheme, and
// the password where it is Basic.
func appendAuthorization(values []string, v string) []string {
	v = strings.TrimSpace(v)
	scheme, rest := Split(v)
	if scheme == v {
		return append(values, v)
	}
	rest = strings.TrimSpace(rest)
	if strings.Contains(rest, ", ") {
		return values // parameters, such as those of Digest
	}
	values = append(values, rest)
	if _, password, ok := Basic(v); ok {
		values = append(values, password)
	}
	return values
}

// session reports whether a cookie of this name lets its holder in.
func session(name string) bool {
	name = strings.ToLower(name)
	for _, s := range [...]string{"sess", "token", "auth", "jwt", "sid", "login", "secret"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
