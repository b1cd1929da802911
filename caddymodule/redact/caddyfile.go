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
//		pass <media type>...
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // directive name
	if d.NextArg() {
		return d.Errf("svc_redact takes no argument, found %q: options go into a block", d.Val())
	}
	for d.NextBlock(0) {
		if d.Val() != "pass" {
			return d.Errf("svc_redact: unknown option %q: want pass", d.Val())
		}
		media := d.RemainingArgs()
		if len(media) == 0 {
			return d.Err("svc_redact: pass takes at least one media type")
		}
		for _, m := range media {
			if err := checkMedia(m); err != nil {
				return d.Errf("svc_redact: pass: %v", err)
			}
		}
		h.Pass = append(h.Pass, media...)
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
