package reach_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/reach"
)

// Each URL is an attempt to be taken for a listed one, or an honest way to write one.
func TestURLs(t *testing.T) {
	hosts, err := reach.ParseHosts([]string{"example.org", "*.example.net", "api.example.org:8443", "http://plain.example.org", "http://plain.example.org:8080", "127.0.0.1:9000", "[fd00::1]", "xn--bcher-kva.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, text, want, err string }{
		{"plain", "https://example.org/a?b=c#d", "https://example.org/a?b=c", ""},
		{"case", "HTTPS://EXAMPLE.ORG/A", "https://example.org/A", ""},
		{"the default port", "https://example.org:443/", "https://example.org/", ""},
		{"the default port, with zeros", "https://example.org:00443/", "https://example.org/", ""},
		{"no port behind a colon", "https://example.org:/", "https://example.org/", ""},
		{"no path", "https://example.org", "https://example.org", ""},
		{"letters beyond ASCII", "https://example.org/ü?ü=ß", "https://example.org/%C3%BC?%C3%BC=%C3%9F", ""},
		{"a listed port", "https://api.example.org:8443/", "https://api.example.org:8443/", ""},
		{"listed plain text", "http://plain.example.org/", "http://plain.example.org/", ""},
		{"listed plain text at a port", "http://plain.example.org:8080/", "http://plain.example.org:8080/", ""},
		{"below a name", "https://a.example.net/", "https://a.example.net/", ""},
		{"far below a name", "https://a.b.example.net/", "https://a.b.example.net/", ""},
		{"an address", "https://127.0.0.1:9000/", "https://127.0.0.1:9000/", ""},
		{"a mapped address", "https://[::ffff:127.0.0.1]:9000/", "https://127.0.0.1:9000/", ""},
		{"an address of IPv6", "https://[FD00:0::1]/", "https://[fd00::1]/", ""},
		{"an international name", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/", ""},

		{"the name itself, where those below it are listed", "https://example.net/", "", "not one of the hosts"},
		{"a name that ends alike", "https://evilexample.net/", "", "not one of the hosts"},
		{"a listed name below another", "https://example.org.evil.example/", "", "not one of the hosts"},
		{"below a name that is listed alone", "https://www.example.org/", "", "not one of the hosts"},
		{"plain text", "http://example.org/", "", "not allowed with http"},
		{"plain text at the port of https", "http://example.org:443/", "", "not allowed with http"},
		{"https where plain text is listed", "https://plain.example.org/", "", "not allowed with https"},
		{"another port", "https://example.org:8443/", "", "not allowed with https at this port"},
		{"a port of a database", "https://example.org:6379/", "", "at this port"},
		{"the default port, where another is listed", "https://api.example.org/", "", "at this port"},
		{"a port that is too large", "https://example.org:65979/", "", "number from 1 to 65535"},
		{"a port that is none", "https://example.org:80a/", "", "cannot be read"},
		{"port 0", "https://example.org:0/", "", "number from 1 to 65535"},
		{"a user", "https://example.org@evil.example/", "", "user name or a password"},
		{"a password", "https://ada:secret@example.org/", "", "user name or a password"},
		{"an empty user", "https://@example.org/", "", "user name or a password"},
		{"two users", "https://a@b@example.org/", "", "user name or a password"},
		{"a user with a slash", "https://example.org%2f@evil.example/", "", "user name or a password"},
		{"a backslash", `https://evil.example\@example.org/`, "", "backslash"},
		{"a backslash for a slash", `https:\\example.org/`, "", "backslash"},
		{"a backslash behind the host", `https://example.org\.evil.example/`, "", "backslash"},
		{"a hash in the host", "https://evil.example#@example.org/", "", "not one of the hosts"},
		{"a query in the host", "https://evil.example?@example.org/", "", "not one of the hosts"},
		{"a dot at the end", "https://example.org./", "", "ends with a dot"},
		{"two dots", "https://example..org/", "", "empty part"},
		{"a decimal address", "https://2130706433/", "", "four decimal numbers"},
		{"an octal address", "https://0177.0.0.1/", "", "four decimal numbers"},
		{"an address in hexadecimal", "https://0x7f000001/", "", "four decimal numbers"},
		{"an address in parts of hexadecimal", "https://0x7f.0.0.0x1/", "", "four decimal numbers"},
		{"a short address", "https://127.1:9000/", "", "four decimal numbers"},
		{"an address with zeros", "https://127.0.0.01:9000/", "", "four decimal numbers"},
		{"an address with a zone", "https://[fe80::1%25eth0]/", "", "zone"},
		{"loopback", "https://[::1]/", "", "not one of the hosts"},
		{"Cyrillic е", "https://еxample.org/", "", "xn--"},
		{"letters in full width", "https://ｅxample.org/", "", "xn--"},
		{"a dot in full width", "https://example。org/", "", "xn--"},
		{"a soft hyphen", "https://exam\u00adple.org/", "", "xn--"},
		{"the same in percent-encoding", "https://%65xample.org/", "", "cannot be read"},
		{"a line feed", "https://example.org/\r\nHost: evil.example", "", "control character"},
		{"a blank", "https://example.org/ HTTP/1.1", "", "blank"},
		{"a tab in the scheme", "ht\ttps://example.org/", "", "control character"},
		{"a zero", "https://example.org\x00.evil.example/", "", "control character"},
		{"a file", "file:///etc/passwd", "", "https:// or http://"},
		{"gopher", "gopher://example.org:70/_x", "", "https:// or http://"},
		{"no scheme", "//example.org/", "", "https:// or http://"},
		{"no slashes", "https:example.org", "", "names no host"},
		{"no host", "https:///example.org", "", "names no host"},
		{"long", "https://example.org/" + strings.Repeat("a", 5000), "", "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u, err := reach.ParseURL(tc.text)
			if err == nil {
				err = hosts.Check(u)
			}
			switch {
			case tc.err == "" && (err != nil || u.String() != tc.want):
				t.Errorf("got %v, %v, want %s", u, err, tc.want)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("got %v, %v, want an error with %q", u, err, tc.err)
			}
		})
	}
}

// What is read leads to one host, however it is read again, and is read as itself.
func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://example.org/a?b#c", "http://[::ffff:1.2.3.4]:8080", "https://a@b/", `https://a\b/`, "https://0x7f.1/", "HTTPS://A.B:443/ü?ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := reach.ParseURL(s)
		if err != nil {
			return
		}
		text := u.String()
		again, err := reach.ParseURL(text)
		if err != nil || again.String() != text {
			t.Fatalf("%q became %q, which is read as %v, %v", s, text, again, err)
		}
		plain, err := url.Parse(text)
		if err != nil || plain.Host != u.Host || plain.User != nil || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q became %q (%v)", s, text, err)
		}
	})
}
