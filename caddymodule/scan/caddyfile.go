package scan

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"
)

var options = []string{"max_scan", "max_body", "encoded"}

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
//		max_scan <size>
//		max_body <size>
//		encoded  refuse|pass
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
			return d.Errf("svc_scan: unknown option %q: want max_scan, max_body or encoded", option)
		}
		if seen[option] {
			return d.Errf("svc_scan: %s is given twice", option)
		}
		seen[option] = true
		var value string
		if !d.AllArgs(&value) {
			return d.Errf("svc_scan: %s takes exactly one value", option)
		}
		if err := h.set(d, option, value); err != nil {
			return err
		}
	}
	if h.MaxBody > 0 && h.MaxScan > h.MaxBody {
		return d.Err("svc_scan: max_scan is more than max_body")
	}
	return nil
}

func (h *Handler) set(d *caddyfile.Dispenser, option, value string) error {
	switch option {
	case "max_scan":
		return size(d, option, value, &h.MaxScan)
	case "max_body":
		return size(d, option, value, &h.MaxBody)
	case "encoded":
		if value != encodedRefuse && value != encodedPass {
			return d.Errf("svc_scan: encoded: unknown value %q: want refuse or pass", value)
		}
		h.Encoded = value
		return nil
	}
	return nil
}

// maxSize is the largest size an option accepts: a body of more is no request to an agent.
const maxSize = 1 << 40

func size(d *caddyfile.Dispenser, option, value string, to *int64) error {
	n, err := humanize.ParseBytes(value)
	if err != nil || n == 0 || n > maxSize {
		return d.Errf("svc_scan: %s: %q is no size, such as 4MiB", option, value)
	}
	*to = int64(n)
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
