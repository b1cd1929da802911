// Package credentials keeps what a request has shown to prove who sends it, for stages that see
// the request only after the credentials were taken out of it: svc_redact looks for them in the
// answer.
//
//	r = credentials.Note(r)             // before anything is removed
//	values := credentials.From(r)       // later, in another stage
//
// The values live as long as the request's context. Requests may be used by many goroutines; a
// request's header must not change while it is noted.
package credentials

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
)

type key struct{}

// Note returns the request with its credentials in its context: the token or password of
// Authorization and Proxy-Authorization, keys in X-Api-Key and its relatives, and the values of
// cookies that name a session or a token. A request without any comes back as it is.
func Note(r *http.Request) *http.Request {
	values := of(r.Header)
	if len(values) == 0 {
		return r
	}
	if before, ok := r.Context().Value(key{}).([]string); ok {
		values = append(before[:len(before):len(before)], values...)
	}
	return r.WithContext(context.WithValue(r.Context(), key{}, values))
}

// From returns the credentials that were noted, and those that the request still has.
func From(r *http.Request) []string {
	noted, _ := r.Context().Value(key{}).([]string)
	return append(noted[:len(noted):len(noted)], of(r.Header)...)
}

func of(h http.Header) (values []string) {
	for _, name := range [...]string{"Authorization", "Proxy-Authorization"} {
		for _, v := range h[name] {
			values = append(values, authorization(v)...)
		}
	}
	for _, name := range [...]string{"X-Api-Key", "Api-Key", "X-Auth-Token", "X-Goog-Api-Key"} {
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

// authorization returns the secrets of a value of Authorization: all after the scheme, and the
// password where it is Basic.
func authorization(v string) []string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(v), " ")
	if !ok {
		return []string{v}
	}
	rest = strings.TrimSpace(rest)
	if strings.Contains(rest, ", ") {
		return nil // parameters, such as those of Digest
	}
	values := []string{rest}
	if strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(rest); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			values = append(values, password)
		}
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
