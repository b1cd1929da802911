package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/text/unicode/norm"
)

func TestOpenPaths(t *testing.T) {
	h := &Handler{Open: []string{"/", "/favicon.ico", "/public/*", "/.well-known/acme-challenge/*"}}
	for target, want := range map[string]bool{
		"/":                               true,
		"/favicon.ico":                    true,
		"/favicon.ico?v=2":                true,
		"/favicon.ico/":                   false,
		"/favicon.icon":                   false,
		"/public/":                        true,
		"/public/app.3f~a-1_x.js":         true,
		"/public/a/b/c/":                  true,
		"/public/My%20file%20(1).pdf":     true,
		"/public/pages/%5Bid%5D-1.js":     true,
		"/public/%40modal/x":              true,
		"/public/caf%C3%A9.html":          true,
		"/public/%E6%96%87%E4%BB%B6.pdf":  true,
		"/.well-known/acme-challenge/a-b": true,
		"/public":                         false,
		"/publicity":                      false,
		"/Public/x":                       false,
		"/%70ublic/x":                     false,
		"/public%2Fx":                     false,
		"//public/x":                      false,
		"/public//x":                      false,
		"/public//":                       false,
		"/public/../admin":                false,
		"/public/..":                      false,
		"/public/.":                       false,
		"/public/./x":                     false,
		"/public/.../x":                   false,
		"/public/%2e%2e/admin":            false,
		"/public/.%2e/admin":              false,
		"/public/%2E%2E%2Fadmin":          false,
		"/public/..%2fadmin":              false,
		"/public/a%2Fb":                   false,
		"/public/%252e%252e/admin":        false,
		"/public/..;/admin":               false,
		"/public/;/../admin":              false,
		"/public/x;jsessionid=1":          false,
		"/public/..%5cadmin":              false,
		"/public/..%00/admin":             false,
		"/public/..%0a/admin":             false,
		"/public/.. /admin":               false,
		"/public/..%20/admin":             false,
		"/public/%20../admin":             false,
		"/public/.%C2%AD./admin":          false, // a soft hyphen
		"/public/.%E3%85%A4./admin":       false, // a filler, which is a letter
		"/public/.%CC%80./admin":          false, // an accent
		"/public/%EF%BC%8E%EF%BC%8E/x":    false, // wide dots
		"/public/..%EF%BC%8Fadmin":        false, // a wide slash
		"/public/..%c0%afadmin":           false, // an overlong slash
		"/public/%ff":                     false,
		"/public/a%3Fb":                   false,
		"/public/a%23b":                   false,
		"/public/a:b":                     false,
		"/public/a|b":                     false,
		"/public/ADMIN.":                  false,
		"/admin/../public/x":              false,
		"/admin":                          false,
	} {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			t.Fatal(err)
		}
		for name, orig := range map[string]string{"as asked": "", "after a rewrite": "/admin", "to /admin": target} {
			r := &http.Request{Method: http.MethodGet, URL: u}
			want := want
			if orig != "" {
				asked := httptest.NewRequest(http.MethodGet, "/", nil)
				asked.URL = u
				if name == "after a rewrite" {
					asked.URL = &url.URL{Path: orig}
				} else {
					r.URL = &url.URL{Path: "/admin"}
				}
				r, want = r.WithContext(context.WithValue(t.Context(), caddyhttp.OriginalRequestCtxKey, *asked)), false
			}
			if got := h.opens(r); got != want {
				t.Errorf("%s, %s: got open %v, want %v", target, name, got, want)
			}
		}
		if h.opens(&http.Request{Method: http.MethodConnect, URL: u}) {
			t.Errorf("CONNECT %s is open", target)
		}
	}
}

func TestCheckOpen(t *testing.T) {
	for p, want := range map[string]bool{
		"/": true, "/favicon.ico": true, "/a/": true, "/public/*": true, "/a/b-c_d~e.f/*": true, "/.well-known/*": true,
		"/*": false, "*": false, "": false, "public": false, "public/*": false, "/public*": false, "/*/x": false, "/a/*/b": false, "/a/**": false,
		"//": false, "/a//*": false, "//*": false, "/a/../b": false, "/../*": false, "/a/./*": false, "/a.": false, "/%70ublic/*": false,
		"/a;b": false, "/a\\b": false, "/a?b": false, "/a#b": false, "/a b": false, "/é": false, "/{path}": false, "@static": false,
	} {
		if err := checkOpen(p); (err == nil) != want {
			t.Errorf("%s: got %v, want valid: %v", p, err, want)
		}
	}
	for text, want := range map[string]bool{
		"/public/* /x": true, "/auth-help": true, "/auth": false, "/auth/*": false, "/auth/login": false, "/x /y /x": false,
	} {
		if err := checkOpenPaths(strings.Fields(text), "/auth"); (err == nil) != want {
			t.Errorf("%s: got %v, want valid: %v", text, err, want)
		}
	}
}

// Letters stay letters when a server normalises them.
func TestLettersAreNoSigns(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Nd, r) {
			continue
		}
		if n := norm.NFKC.String(string(r)); strings.ContainsAny(n, "./\\%;?#") {
			t.Errorf("%U becomes %q", r, n)
		}
	}
}

// readings are what servers make of the path of a request before they look what is there.
var readings = map[string]func(wire string) string{
	"as it is":       func(p string) string { return p },
	"decoded":        decoded,
	"decoded twice":  func(p string) string { return decoded(decoded(p)) },
	"no parameters":  func(p string) string { return unparametered(decoded(p)) },
	"encoded params": unparametered,
	"backslashes":    func(p string) string { return strings.ReplaceAll(decoded(p), `\`, "/") },
	"up to zero":     func(p string) string { p, _, _ = strings.Cut(decoded(p), "\x00"); return p },
	"normalised":     func(p string) string { return norm.NFKC.String(decoded(p)) },
	"ASCII": func(p string) string {
		return strings.Map(func(r rune) rune {
			if r >= 0x80 {
				return -1
			}
			return r
		}, decoded(p))
	},
	"Windows": func(p string) string {
		parts := strings.Split(strings.ReplaceAll(decoded(p), `\`, "/"), "/")
		for i, part := range parts {
			if part != "." && part != ".." {
				parts[i] = strings.TrimRight(part, ". ")
			}
			if strings.TrimRight(part, " ") == ".." {
				parts[i] = ".."
			}
		}
		return strings.Join(parts, "/")
	},
}

func decoded(p string) string {
	if d, err := url.PathUnescape(p); err == nil {
		return d
	}
	return p
}

func unparametered(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], ";")
	}
	return strings.Join(parts, "/")
}

// However a server reads an open path, it is below the one that was opened.
func FuzzOpenPath(f *testing.F) {
	for _, s := range []string{"a", "../admin", "..;/admin", "%2e%2e/", "%252e%252e%252f", "..%5c", ". ./", "\uff0e\uff0e/", ".\u3164./x", "a/b/../../..", "%00"} {
		f.Add(s)
	}
	h := &Handler{Open: []string{"/public/*"}}
	f.Fuzz(func(t *testing.T, rest string) {
		u, err := url.ParseRequestURI("/public/" + rest)
		if err != nil || !h.opens(&http.Request{Method: http.MethodGet, URL: u}) {
			return
		}
		for name, read := range readings {
			if got := path.Clean(read(u.EscapedPath())); got != "/public" && !strings.HasPrefix(got, "/public/") {
				t.Errorf("%s, %s: got %s", u.EscapedPath(), name, got)
			}
		}
	})
}
