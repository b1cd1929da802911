package web

import (
	"net/url"
	"strings"
	"testing"
)

func TestLocal(t *testing.T) {
	for next, want := range map[string]string{
		"/":                          "/",
		"/docs/":                     "/docs/",
		"/threads/search?limit=1":    "/threads/search?limit=1",
		"/a%20b/%C3%A4?q=%2F%2Fx":    "/a%20b/%C3%A4?q=%2F%2Fx",
		"/go?to=https://a.example/x": "/go?to=https://a.example/x",
		"/docs/#operation":           "/docs/",

		"/a?":    "/a?",
		"/a:b@c": "/a:b@c",

		"":                                   "",
		"docs":                               "",
		"?a=b":                               "",
		"//evil.example":                     "",
		"///evil.example":                    "",
		"////evil.example/%2e%2e":            "",
		"/\\evil.example":                    "",
		"\\\\evil.example":                   "",
		"/\\/evil.example":                   "",
		"/a/\\evil.example":                  "",
		"/\tevil":                            "",
		"/\t/evil.example":                   "",
		"/\n/evil.example":                   "",
		"/\r\nSet-Cookie: svc_token=x":       "",
		"\t//evil.example":                   "",
		" //evil.example":                    "",
		"/%2f/evil.example":                  "",
		"/%2Fevil.example":                   "",
		"/%5cevil.example":                   "",
		"/%255cevil.example":                 "",
		"/%252f%252fevil.example":            "",
		"/%2525252525252fevil":               "",
		"/%09/evil.example":                  "",
		"/%0d%0aSet-Cookie:%20x=y":           "",
		"/..//evil.example":                  "",
		"/.%2f/evil.example":                 "",
		"https://evil.example/":              "",
		"https:evil.example":                 "",
		"http:/evil.example":                 "",
		"javascript:alert(1)":                "",
		"/%zz":                               "",
		"/100%25":                            "",
		"//#":                                "",
		"/ä":                                 "",
		"/a\x00b":                            "",
		"/" + strings.Repeat("a", maxNext+1): "",
	} {
		got, ok := local(next)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", next, got, ok, want)
		}
	}
}

// FuzzLocal holds that what is accepted stays on the host and the scheme, as Go and as a browser
// read it, also after it was decoded once or twice more.
func FuzzLocal(f *testing.F) {
	for _, seed := range []string{"/a/b?c=d#e", "//evil.example", "/\\evil.example", "/%2f%2fevil.example", "/%255c", "/.//x", "https://a/", "/\t/x", "/a%0ab"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, next string) {
		at, ok := local(next)
		if !ok {
			return
		}
		if again, ok := local(at); !ok || again != at {
			t.Errorf("%q: became %q, which becomes %q, %v", next, at, again, ok)
		}
		for range 3 {
			if !stays(at) {
				t.Fatalf("%q leads away by %q", next, at)
			}
			decoded, err := url.PathUnescape(strings.SplitN(at, "?", 2)[0])
			if err != nil {
				return
			}
			at = decoded
		}
	})
}

// stays reports whether the reference leads to the host of the page that it stands on. The first
// half does what the URL standard has browsers do with a relative reference.
func stays(reference string) bool {
	s := strings.TrimFunc(reference, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "", "\\", "/").Replace(s)
	if !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") {
		return false
	}
	base := url.URL{Scheme: "https", Host: "svc.example", Path: "/auth/login"}
	u, err := base.Parse(reference)
	return err != nil || u.Scheme == base.Scheme && u.Host == base.Host && u.User == nil
}
