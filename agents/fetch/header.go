package fetch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	maxFields     = 20      // headers of a request
	maxFieldValue = 2 << 10 // bytes of one
)

// harmless are the headers that a request that only reads may have: nobody is asked about it, so there are no
// others. Some servers take a method, another URL or a name for who asks from a header.
var harmless = []string{"accept", "accept-language", "cache-control", "if-modified-since", "if-none-match", "prefer"}

// refused are the headers that no request has, and why. A name that ends with a dash stands for all that begin
// with it.
var refused = []struct {
	names []string
	why   string
}{
	{
		[]string{"host", "connection", "keep-alive", "proxy-", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "content-length", "expect"},
		"it belongs to the connection, which the gateway makes: leave it out",
	},
	{
		[]string{"accept-encoding", "content-encoding", "user-agent", "range"},
		"the gateway decides on it: leave it out",
	},
	{
		[]string{"x-http-method-override", "x-http-method", "x-method-override"},
		"servers take another method from it than the one that is shown: give the argument method",
	},
	{
		[]string{"forwarded", "x-forwarded-", "x-original-", "x-rewrite-", "x-real-ip", "x-remote-", "remote-user", "remote-"},
		"servers take from it who asks, or for what: leave it out",
	},
}

// secretive are parts of the names of headers with credentials.
var secretive = []string{"auth", "cookie", "token", "secret", "password", "passwd", "api-key", "apikey", "credential", "session", "signature", "private-key", "access-key"}

const noCredential = "credentials are never arguments: leave it out; an administrator binds one to the server with a http_credential, and the gateway adds it"

// checkHeader refuses headers that change what is asked, or by whom, and those that hold a credential.
func (c *Client) checkHeader(r Request) error {
	if len(r.Header) > maxFields {
		return fmt.Errorf("there are %d: give at most %d", len(r.Header), maxFields)
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lower := strings.ToLower(name)
		if !httpguts.ValidHeaderFieldName(name) || len(name) > maxType {
			return errors.New("a name is not one of a header: use letters, digits and -")
		}
		if seen[lower] {
			return fmt.Errorf("%s is there twice: write it once", name)
		}
		seen[lower] = true
		if err := c.checkField(lower, r.Header[name], r.Writes()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// checkField refuses one header by its name, in lower case, and its value.
func (c *Client) checkField(name, value string, writes bool) error {
	for _, group := range refused {
		if slices.ContainsFunc(group.names, func(n string) bool { return n == name || strings.HasSuffix(n, "-") && strings.HasPrefix(name, n) }) {
			return errors.New(group.why)
		}
	}
	switch {
	case slices.ContainsFunc(secretive, func(part string) bool { return strings.Contains(name, part) }),
		slices.ContainsFunc(c.c.Credentials, func(cr Credential) bool { return strings.EqualFold(cr.Header, name) }),
		c.c.Secrets.Redact(value) != value, c.c.Secrets.Redact(name+": "+value) != name+": "+value:
		return errors.New(noCredential)
	case !writes && !slices.Contains(harmless, name):
		return fmt.Errorf("a request that only reads has only headers that change nothing: %s", strings.Join(harmless, ", "))
	case len(value) > maxFieldValue:
		return fmt.Errorf("its value has %d bytes: give at most %d", len(value), maxFieldValue)
	case value == "" || strings.Trim(value, " ") != value || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("its value has to be of the characters of ASCII that are seen, with blanks between them and no line end")
	}
	return nil
}
