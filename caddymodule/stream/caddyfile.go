package stream

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

var options = []string{"keepalive", "keepalive_style", "write_timeout", "grace"}

func init() {
	httpcaddyfile.RegisterHandlerDirective("svc_stream", parseCaddyfile)
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	s := new(Handler)
	return s, s.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	svc_stream [<matcher>] {
//		keepalive       <duration>|off
//		keepalive_style newline|comment
//		write_timeout   <duration>
//		grace           <duration>
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // directive name
	if d.NextArg() {
		return d.Errf("svc_stream takes no argument, found %q: options go into a block", d.Val())
	}
	seen := map[string]bool{}
	for d.NextBlock(0) {
		option := d.Val()
		if !slices.Contains(options, option) {
			return d.Errf("svc_stream: unknown option %q: want keepalive, keepalive_style, write_timeout or grace", option)
		}
		if seen[option] {
			return d.Errf("svc_stream: %s is given twice", option)
		}
		seen[option] = true
		var value string
		if !d.AllArgs(&value) {
			return d.Errf("svc_stream: %s takes exactly one value", option)
		}
		if err := h.set(d, option, value); err != nil {
			return err
		}
	}
	if h.Keepalive < 0 && h.KeepaliveStyle != "" {
		return d.Err("svc_stream: keepalive_style has no meaning with keepalive off")
	}
	return nil
}

func (h *Handler) set(d *caddyfile.Dispenser, option, value string) error {
	switch option {
	case "keepalive":
		if value == "off" {
			h.Keepalive = -1
			return nil
		}
		return positive(d, option, value, &h.Keepalive)
	case "keepalive_style":
		if value != styleNewline && value != styleComment {
			return d.Errf("svc_stream: keepalive_style: unknown style %q: want newline or comment", value)
		}
		h.KeepaliveStyle = value
		return nil
	case "write_timeout":
		return positive(d, option, value, &h.WriteTimeout)
	case "grace":
		return positive(d, option, value, &h.Grace)
	}
	return nil
}

func positive(d *caddyfile.Dispenser, option, value string, to *caddy.Duration) error {
	dur, err := caddy.ParseDuration(value)
	if err != nil {
		return d.Errf("svc_stream: %s: %q is not a duration such as 8s: %v", option, value, err)
	}
	if dur <= 0 {
		return d.Errf("svc_stream: %s: %s is not positive", option, value)
	}
	*to = caddy.Duration(dur)
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
