package redact

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"golang.org/x/net/http/httpguts"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Allow is what stays although the rules would take it. Values that are known to be secrets go there
// too: those of the option secret, of the app svc and of the request.
type Allow struct {
	// Names of header and trailer fields that stay as they are, such as "X-Auth-Token". Default: none.
	Headers []string `json:"headers,omitempty"`

	// Members of JSON bodies that stay with all below them: a name ("client_secret"), wherever it
	// stands, or a path from the top with dots ("data.*.token"), in which * is any key and any element
	// of an array. Default: none.
	Fields []string `json:"fields,omitempty"`

	// Paths of requests whose answers stay, as in Caddy's path matcher: "/oauth/token", "/keys/*".
	// Default: none.
	Paths []string `json:"paths,omitempty"`

	// Names of rules that find nothing, as the log of the mode "observe" and the metric
	// svc_redact_total give them: "json_web_token". Default: none.
	Rules []string `json:"rules,omitempty"`

	fields []string        // Headers, in canonical form
	usual  *redact.Allowed // in the answers to requests for other paths than Paths
}

// provision prepares for requests. signed says that signed thinking stays.
func (a *Allow) provision(ctx caddy.Context, signed bool) error {
	for _, name := range a.Headers {
		a.fields = append(a.fields, textproto.CanonicalMIMEHeaderKey(name))
	}
	a.usual = &redact.Allowed{Rules: a.Rules, Fields: a.Fields, Signed: signed}
	if err := caddyhttp.MatchPath(a.Paths).Provision(ctx); err != nil {
		return fmt.Errorf("allow: paths: %w", err)
	}
	return nil
}

// check tells what is wrong with an entry of one kind.
var checkAllow = map[string]func(value string) error{
	"header": func(v string) error {
		if !httpguts.ValidHeaderFieldName(v) || strings.Contains(v, "*") {
			return fmt.Errorf("%q is not the name of a header field such as X-Auth-Token", v)
		}
		return nil
	},
	"field": func(v string) error {
		if v == "" || strings.ContainsAny(v, "{}") || slices.Contains(strings.Split(v, "."), "") || !strings.Contains(v, ".") && strings.Contains(v, "*") {
			return fmt.Errorf("%q is not a member of JSON such as client_secret or data.*.token", v)
		}
		return nil
	},
	"path": func(v string) error {
		if !strings.HasPrefix(v, "/") {
			return fmt.Errorf("%q is not a path such as /oauth/token: it has to begin with a slash", v)
		}
		if strings.ContainsAny(v, "{}") { // one that is unset would be left out, and the path allow more
			return fmt.Errorf("%q: placeholders are not replaced here: write the path itself, or {$NAME} in a Caddyfile", v)
		}
		if strings.Trim(v, "/*") == "" {
			return fmt.Errorf("%q would allow everything: leave svc_redact out instead", v)
		}
		return nil
	},
	"rule": func(v string) error {
		names := redact.RuleNames()
		switch {
		case v == redact.KnownSecret:
			return fmt.Errorf("%s cannot be allowed: take the value out of the option secret instead", v)
		case !slices.Contains(names, v):
			return fmt.Errorf("there is no rule %q: mode observe logs the names of those that find something%s", v, suggest.DidYouMean(v, names))
		}
		return nil
	},
}

// read reads the option allow.
func (a *Allow) read(l directive.Line) error {
	values, err := l.Some()
	if err != nil {
		return err
	}
	kind, values := values[0], values[1:]
	to := map[string]*[]string{"header": &a.Headers, "field": &a.Fields, "path": &a.Paths, "rule": &a.Rules}[kind]
	if to == nil {
		return l.Known(kind, "header", "field", "path", "rule")
	}
	if len(values) == 0 {
		return l.Errf("%s takes at least one value", kind)
	}
	for _, v := range values {
		if err := checkAllow[kind](v); err != nil {
			return l.Errf("%s: %v", kind, err)
		}
	}
	*to = append(*to, values...)
	return nil
}

// validate refuses entries that mean nothing.
func (a *Allow) validate() error {
	var errs []error
	for _, list := range []struct {
		kind   string
		values []string
	}{{"header", a.Headers}, {"field", a.Fields}, {"path", a.Paths}, {"rule", a.Rules}} {
		for _, v := range list.values {
			if err := checkAllow[list.kind](v); err != nil {
				errs = append(errs, fmt.Errorf("allow: %ss: %w", list.kind, err))
			}
		}
	}
	return errors.Join(errs...)
}

// header reports whether a field of this name stays.
func (a *Allow) header(name string) bool {
	return slices.Contains(a.fields, name)
}

var everything = redact.Allowed{All: true}

// of returns what the rules leave in the answer to a request, which is not to be changed.
func (a *Allow) of(r *http.Request) (*redact.Allowed, error) {
	if len(a.Paths) > 0 {
		match, err := caddyhttp.MatchPath(a.Paths).MatchWithError(r)
		if err != nil {
			return nil, fmt.Errorf("matching the allowed paths: %w", err)
		}
		if match {
			return &everything, nil
		}
	}
	return a.usual, nil
}
