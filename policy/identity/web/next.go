package web

import (
	"net/http"
	"net/url"
	"strings"
)

const (
	maxNext = 2048 // bytes of an address to go on to
	// rounds is how often an address is decoded before it is taken for a trick. A proxy or an
	// upstream may decode once more than we do.
	rounds = 4
)

// local returns the path and query of an address on this host, where a login may go on to. It
// refuses whatever a browser, or a server that decodes once more, could take for an address on
// another host: absolute ones, two slashes in a row, backslashes, control characters, also
// encoded. See https://url.spec.whatwg.org/#concept-basic-url-parser for what browsers do.
func local(next string) (string, bool) {
	if !strings.HasPrefix(next, "/") || len(next) > maxNext || strings.ContainsFunc(next, unprintable) {
		return "", false
	}
	next, _, _ = strings.Cut(next, "#")
	path, _, _ := strings.Cut(next, "?")
	for range rounds {
		if strings.Contains(path, "//") || strings.ContainsFunc(path, control) {
			return "", false
		}
		decoded, err := url.PathUnescape(path)
		if err != nil {
			return "", false
		}
		if decoded == path {
			return next, true
		}
		path = decoded
	}
	return "", false
}

// unprintable reports what an address never holds unencoded.
func unprintable(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }

// control reports what no decoded path should hold: browsers drop some of it and take a
// backslash for a slash.
func control(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }

// goOn is where a login leads: next if it is a path of this host that is not about logging in
// or out again, else the account page.
func goOn(r *http.Request, next string) string {
	root := ArrivalOf(r).Root
	path, ok := local(next)
	if !ok || within(path, root+"/login") || within(path, root+"/logout") {
		return root + "/account"
	}
	return path
}

func within(path, page string) bool { return path == page || strings.HasPrefix(path, page+"?") }
