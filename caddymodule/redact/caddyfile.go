package redact

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/svc-gateway/svc/caddymodule/directive"
)

func init() { directive.Register[Handler]("svc_redact") }

// UnmarshalCaddyfile reads the directive:
//
//	svc_redact [<matcher>] {
//		pass   <media type>...
//		secret <value>...
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return directive.Read(d,
		directive.Option{Name: "pass", Repeats: true, Read: directive.Words(&h.Pass, checkMedia)},
		directive.Option{Name: "secret", Repeats: true, Read: directive.Words(&h.Secrets, func(string) error { return nil })},
	)
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
