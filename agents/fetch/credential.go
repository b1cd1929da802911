package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/settings"
)

// Credential is what one server knows the gateway by. It is added to requests of [Client.Do] for that server,
// and goes to no other.
type Credential struct {
	Name   string
	Origin string // the server, as [Origin] writes it
	Header string
	Value  Secret
}

// Secret is the value of a header with a credential. It prints as REDACTED.
type Secret string

// String is REDACTED.
func (Secret) String() string { return "REDACTED" }

// GoString is REDACTED, too.
func (Secret) GoString() string { return "REDACTED" }

// MarshalJSON is REDACTED, too.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"REDACTED"`), nil }

// Origin is the scheme, host and port of a URL that [reach.ParseURL] has read.
func Origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// ReadCredentials reads the secrets of the credentials that the settings describe. env is os.LookupEnv. No
// error holds any of them.
func ReadCredentials(list []settings.HTTPCredential, env func(string) (string, bool)) ([]Credential, error) {
	all := make([]Credential, 0, len(list))
	for _, s := range list {
		u, err := s.Server()
		if err != nil {
			return nil, fmt.Errorf("http_credential %s: host: %w", s.Name, err)
		}
		value, err := s.Value.Reveal(env)
		if err == nil {
			err = checkSecret(value)
		}
		if err != nil {
			return nil, fmt.Errorf("http_credential %s: value: %w", s.Name, err)
		}
		if s.Prefix != "" {
			value = s.Prefix + " " + value
		}
		all = append(all, Credential{s.Name, Origin(u), s.Header, Secret(value)})
	}
	return all, nil
}

// checkSecret refuses what redactors would not find when a server repeats it.
func checkSecret(value string) error {
	if len(value) < 8 {
		return errors.New("it has less than 8 characters, and would not be redacted where the server repeats it: use a longer one")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("it has a blank, a line end or a character that is not ASCII: leave them out; the word before a credential, such as Bearer, stands in prefix")
	}
	return nil
}

// For returns the names of the credentials that a request for a URL is made with.
func (c *Client) For(text string) (names []string) {
	u, err := c.Check(text)
	if err != nil {
		return nil
	}
	for _, cr := range c.credentials(u) {
		names = append(names, cr.Name)
	}
	return names
}

// credentials are those of the server of a URL.
func (c *Client) credentials(u *url.URL) (all []Credential) {
	for _, cr := range c.c.Credentials {
		if cr.Origin == Origin(u) {
			all = append(all, cr)
		}
	}
	return all
}

// errClear refuses to send a credential over the internet for everybody to read.
var errClear = errors.New("a credential goes over plain http to addresses that are not public only")

// inClear refuses public addresses for a request with a credential over plain http.
func inClear(addr netip.Addr) error {
	if reach.Public(addr.Unmap()) {
		return errClear
	}
	return nil
}
