package settings

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/reach"
)

// HTTPCredential is what a server knows the gateway by when an agent asks it with the tool http_request.
type HTTPCredential struct {
	// Name is what the credential is called.
	Name string
	// Host is the one server that it is sent to: a host, with a port where it is not 443, and with http://
	// where it is not asked over TLS.
	Host string
	// Header is the header that it is sent in. Default: Authorization.
	Header string
	// Prefix is the word before it, such as Bearer. Default: none.
	Prefix string
	// Value is where the credential is.
	Value Reference
}

// HTTPCredentials returns the credentials for servers, in their order.
func (s Settings) HTTPCredentials() []HTTPCredential { return httpCredentials.of(s) }

var httpCredentials = register(&objects[HTTPCredential]{
	key: "http_credentials", block: "http_credential", one: "a credential for a server",
	doc:  "credentials that the gateway adds to requests of the tool `http_request`, each for one server. See [fetch.md](fetch.md#credentials)",
	name: func(c *HTTPCredential) *string { return &c.Name },
	fields: []field[HTTPCredential]{
		text("host", "", "the one server that it is sent to, one of `fetch.hosts`: `api.example.org`, with `:port` where it is not 443; with `http://` before it for a server that is not public and has no TLS",
			func(c *HTTPCredential) *string { return &c.Host }, checkOneHost).
			required("write the one server that it is for, such as api.example.org"),
		text("header", "Authorization", "the header that it is sent in",
			func(c *HTTPCredential) *string { return &c.Header }, checkCredentialHeader),
		text("prefix", "", "the word before it, such as `Bearer`, `Token` or `Basic`",
			func(c *HTTPCredential) *string { return &c.Prefix }, checkPrefix),
		secret("value", "where the credential is, without the prefix",
			func(c *HTTPCredential) *Reference { return &c.Value }).
			required("write where the credential is, {env.NAME} or {file./path}"),
	},
	check: checkCredentials,
	used:  func(Settings) bool { return true },
})

// Server is the server that the credential is for.
func (c HTTPCredential) Server() (*url.URL, error) {
	text := c.Host
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := reach.ParseURL(text)
	if err != nil {
		return nil, err
	}
	if strings.Contains(c.Host, "*") || strings.ContainsAny(strings.TrimPrefix(text, u.Scheme+"://"), "/?#") {
		return nil, errors.New("it is more than one server: write a host, with a port where it is not the default one, and nothing else")
	}
	return u, nil
}

func checkOneHost(host string) error {
	_, err := HTTPCredential{Host: host}.Server()
	return err
}

var headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)

// noCredentials are headers that are no place for a credential: the gateway or the connection needs them.
var noCredentials = []string{
	"host", "connection", "content-length", "content-type", "content-encoding", "transfer-encoding", "upgrade", "te", "trailer", "expect",
	"accept", "accept-encoding", "user-agent", "cookie", "proxy-authorization",
}

func checkCredentialHeader(name string) error {
	switch {
	case !headerName.MatchString(name):
		return fmt.Errorf("%q is not the name of a header: use letters, digits and -", name)
	case slices.Contains(noCredentials, strings.ToLower(name)):
		return fmt.Errorf("%s is no header for a credential: use Authorization, or the one that the server asks for", name)
	}
	return nil
}

// checkPrefix never repeats the value: it may be the secret itself.
func checkPrefix(word string) error {
	if !headerName.MatchString(word) {
		return errors.New("this is not one word of letters, digits and -, such as Bearer")
	}
	return nil
}

// checkCredentials refuses credentials that would never be sent, or of which one would take the place of another.
func checkCredentials(s Settings, all []HTTPCredential) error {
	hosts, err := reach.ParseHosts(s.Fetch.Hosts)
	if err != nil {
		return nil // told of by itself
	}
	sent := map[string]string{}
	for i, c := range all {
		wrong := func(format string, args ...any) error {
			return About(fmt.Errorf("http_credentials: "+c.Name+"."+format, args...), fmt.Sprintf("http_credentials[%d]", i))
		}
		u, err := c.Server()
		if err != nil {
			return wrong("host: %w", err)
		}
		if err := hosts.Check(u); err != nil {
			return wrong("host: it would never be sent, since fetch.hosts does not list this server (%w): list it there", err)
		}
		at := u.String() + " " + strings.ToLower(c.Header)
		if other, twice := sent[at]; twice {
			return wrong("header: %s sends %s to this server already: use one of them", other, c.Header)
		}
		sent[at] = c.Name
	}
	return nil
}
