package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/problem"
)

// ambiguous reports whether servers would not agree what a path is: some drop what follows a
// semicolon in each part before they go up or merge slashes, or take a backslash for a slash. A
// matcher for /admins* does not see what such a server makes of /x/..;/admins or /;/admins.
func ambiguous(path string) bool {
	if strings.Contains(path, "\\") {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		name, _, params := strings.Cut(segment, ";")
		if params && (name == "" || name == "." || name == "..") {
			return true
		}
	}
	return false
}

// refusesPath answers a request whose path nobody should have to judge.
func (h *Handler) refusesPath(rec *recorder, r *http.Request) bool {
	if _, path := asked(r); !ambiguous(path) && !ambiguous(r.URL.Path) {
		return false
	}
	rec.reason = pathAmbiguous
	refusal.Write(rec, r, problem.Problem{
		Status: http.StatusBadRequest, Code: pathAmbiguous,
		Detail: "Servers do not agree on what this path means: leave out backslashes, and parts such as ..; or ; alone.",
	})
	return true
}

// asAsked takes back what a rewrite such as try_files made of a path of our own, which the client
// needs to log in, or to learn where it can. A prefix that was taken off is another matter: then the path is not ours.
func (h *Handler) asAsked(r *http.Request) *http.Request {
	orig, ok := original(r)
	if !ok || h.answers(r.URL.Path) || !h.answers(orig.URL.Path) || strings.HasSuffix(orig.URL.Path, r.URL.Path) {
		return r
	}
	back := *r
	back.Method, back.RequestURI, back.URL = orig.Method, orig.RequestURI, new(url.URL)
	*back.URL = *orig.URL
	return &back
}

// answers reports whether the handler answers itself at a path.
func (h *Handler) answers(path string) bool {
	return h.web.Serves(path) || h.resource.describedAt(path)
}
