package oidc

import "net/http"

// UseTransport has all providers asked through t.
func (s *Set) UseTransport(t http.RoundTripper) {
	for _, i := range s.issuers {
		i.client.Transport = bounded{t}
	}
}
