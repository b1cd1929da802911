package scan

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/internal/bytesize"
)

var options = []string{"max_scan", "max_body", "beyond", "encoded", "bodies", "action", "shape", "fields", "skip"}

func init() {
	httpcaddyfile.RegisterHandlerDirective("svc_scan", parseCaddyfile)
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	m := new(Handler)
	return m, m.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	svc_scan [<matcher>] {
//		bodies   request|response...
//		action   log|annotate|block [<category>...]
//		max_scan <size>
//		max_body <size>
//		beyond   stream|refuse
//		encoded  refuse|decode|pass
//		shape    openai|protocol|mcp
//		fields   <path>...
//		skip     <path>...
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // directive name
	if d.NextArg() {
		return d.Errf("svc_scan takes no argument, found %q: options go into a block", d.Val())
	}
	seen := map[string]bool{}
	for d.NextBlock(0) {
		option := d.Val()
		if !slices.Contains(options, option) {
			return d.Errf("svc_scan: unknown option %q: want one of %s", option, strings.Join(options, ", "))
		}
		if seen[option] && option != "action" {
			return d.Errf("svc_scan: %s is given twice", option)
		}
		seen[option] = true
		if err := h.set(d, option, d.RemainingArgs()); err != nil {
			return err
		}
	}
	if h.MaxBody > 0 && h.MaxScan > h.MaxBody {
		return d.Err("svc_scan: max_scan is more than max_body")
	}
	return nil
}

// set reads one option.
func (h *Handler) set(d *caddyfile.Dispenser, option string, values []string) error {
	if len(values) == 0 {
		return d.Errf("svc_scan: %s takes a value", option)
	}
	switch option {
	case "bodies":
		return names(d, option, values, []string{string(request), string(response)}, &h.Bodies)
	case "action":
		return h.setAction(d, values)
	case "fields":
		return paths(d, option, values, &h.Fields)
	case "skip":
		return paths(d, option, values, &h.Skip)
	}
	if len(values) > 1 {
		return d.Errf("svc_scan: %s takes exactly one value", option)
	}
	switch option {
	case "max_scan":
		return size(d, option, values[0], &h.MaxScan)
	case "max_body":
		return size(d, option, values[0], &h.MaxBody)
	case "beyond":
		return name(d, option, values[0], []string{beyondStream, beyondRefuse}, &h.Beyond)
	case "encoded":
		return name(d, option, values[0], []string{encodedRefuse, encodedDecode, encodedPass}, &h.Encoded)
	}
	return name(d, option, values[0], shapeNames, &h.Shape)
}

// setAction reads "action block role_hijacking …"; without categories it is for all others.
func (h *Handler) setAction(d *caddyfile.Dispenser, values []string) error {
	var action string
	if err := name(d, "action", values[0], actionNames, &action); err != nil {
		return err
	}
	categories := values[1:]
	if len(categories) == 0 {
		categories = []string{anyCategory}
	}
	if h.Actions == nil {
		h.Actions = map[string]string{}
	}
	for _, c := range categories {
		if c != anyCategory && !slices.Contains(categoryNames, c) {
			return d.Errf("svc_scan: action: unknown category %q: want some of %s", c, strings.Join(categoryNames, ", "))
		}
		if _, ok := h.Actions[c]; ok {
			return d.Errf("svc_scan: action: there are two for %s", strings.ReplaceAll(c, anyCategory, "all other categories"))
		}
		h.Actions[c] = action
	}
	return nil
}

func name(d *caddyfile.Dispenser, option, value string, known []string, to *string) error {
	if !slices.Contains(known, value) {
		return d.Errf("svc_scan: %s: unknown value %q: want %s", option, value, strings.Join(known, ", "))
	}
	*to = value
	return nil
}

func names(d *caddyfile.Dispenser, option string, values, known []string, to *[]string) error {
	for i, v := range values {
		if err := name(d, option, v, known, new(string)); err != nil {
			return err
		}
		if slices.Contains(values[:i], v) {
			return d.Errf("svc_scan: %s: %s is given twice", option, v)
		}
	}
	*to = values
	return nil
}

func paths(d *caddyfile.Dispenser, option string, values []string, to *[]string) error {
	for _, v := range values {
		if _, err := parsePath(v); err != nil {
			return d.Errf("svc_scan: %s: %v", option, err)
		}
	}
	*to = values
	return nil
}

// maxSize is the largest size an option accepts: a body of more is no request to an agent.
const maxSize = 1 << 40

func size(d *caddyfile.Dispenser, option, value string, to *int64) error {
	n, err := bytesize.Parse(value)
	if err != nil || n == 0 || n > maxSize {
		return d.Errf("svc_scan: %s: %q is not a size such as 4MiB", option, value)
	}
	*to = n
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
