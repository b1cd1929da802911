package scan

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/internal/media"
)

// Choice says which bodies are scanned. One has to fit all that is given.
type Choice struct {
	// Media types without parameters, such as "application/json", or "text/*". A body whose type
	// says nothing, or is ambiguous, fits them all: servers guess. Default: all types.
	Types []string `json:"types,omitempty"`

	// Paths of requests, as in Caddy's matcher path: "/v1/*". Default: all paths.
	Paths caddyhttp.MatchPath `json:"paths,omitempty"`
}

func (c *Choice) provision(ctx caddy.Context) error {
	if c == nil || c.Paths == nil {
		return nil
	}
	if err := c.Paths.Provision(ctx); err != nil {
		return fmt.Errorf("choose: paths: %w", err)
	}
	return nil
}

// check refuses types that are none.
func (c *Choice) check() error {
	if c == nil || c.Types == nil && c.Paths == nil {
		return fmt.Errorf("want types, paths or both")
	}
	for _, t := range c.Types {
		if err := checkType(t); err != nil {
			return err
		}
	}
	for _, p := range c.Paths {
		if err := checkRequestPath(p); err != nil {
			return err
		}
	}
	return nil
}

// checkRequestPath refuses placeholders: with one that is unset, a path would fit other requests than was meant.
func checkRequestPath(p string) error {
	switch {
	case strings.ContainsAny(p, "{}"):
		return fmt.Errorf("path %q: placeholders are not replaced here: write the path itself, or {$NAME} in a Caddyfile", p)
	case !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "*"):
		return fmt.Errorf("%q is not a path such as /v1/*: it has to begin with a slash", p)
	}
	return nil
}

func checkType(t string) error {
	major, minor, ok := strings.Cut(t, "/")
	if !ok || major == "" || minor == "" || t != strings.ToLower(t) || strings.ContainsAny(t, " \t;,") || strings.Contains(major, "*") || minor != "*" && strings.Contains(minor, "*") {
		return fmt.Errorf("%q is not a media type such as application/json or text/*", t)
	}
	return nil
}

// hasPath reports whether bodies at the path of the request are chosen.
func (c *Choice) hasPath(r *http.Request) bool {
	return c == nil || c.Paths == nil || c.Paths.Match(r)
}

// hasType reports whether bodies of the type are chosen.
func (c *Choice) hasType(b media.Body) bool {
	if c == nil || c.Types == nil || b.Type == "" || b.Ambiguous || b.Type == "application/octet-stream" {
		return true
	}
	for _, t := range c.Types {
		if major, all := strings.CutSuffix(t, "*"); t == b.Type || all && strings.HasPrefix(b.Type, major) {
			return true
		}
	}
	return false
}

// readChoice reads the block of the option bodies, if there is one.
func readChoice(l directive.Line) (*Choice, error) {
	var c *Choice
	d := l.Dispenser()
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if c == nil {
			c = new(Choice)
		}
		name, values := d.Val(), d.RemainingArgs()
		check := checkType
		switch {
		case name != "type" && name != "path":
			return nil, l.Errf("unknown option %q: want type or path", name)
		case len(values) == 0:
			return nil, l.Errf("%s takes at least one value", name)
		case name == "path":
			check = checkRequestPath
		}
		for _, v := range values {
			if err := check(v); err != nil {
				return nil, l.Errf("%w", err)
			}
		}
		if name == "path" {
			c.Paths = append(c.Paths, values...)
		} else {
			c.Types = append(c.Types, values...)
		}
	}
	return c, nil
}
