package redact

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("svc_redact", parseCaddyfile)
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	m := new(Handler)
	return m, m.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	svc_redact [<matcher>] {
//		pass   <media type>...
//		secret <value>...
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // directive name
	if d.NextArg() {
		return d.Errf("svc_redact takes no argument, found %q: options go into a block", d.Val())
	}
	for d.NextBlock(0) {
		option := d.Val()
		values := d.RemainingArgs()
		if len(values) == 0 && (option == "pass" || option == "secret") {
			return d.Errf("svc_redact: %s takes at least one value", option)
		}
		switch option {
		case "pass":
			for _, m := range values {
				if err := checkMedia(m); err != nil {
					return d.Errf("svc_redact: pass: %v", err)
				}
			}
			h.Pass = append(h.Pass, values...)
		case "secret":
			h.Secrets = append(h.Secrets, values...)
		default:
			return d.Errf("svc_redact: unknown option %q: want pass or secret", option)
		}
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
