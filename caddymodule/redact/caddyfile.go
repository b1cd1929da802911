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
//		allow  header|field|path|rule <value>...
//		mode   redact|observe
//		oauth_tokens redact|pass
//		signed_thinking pass|redact
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return directive.Read(d,
		directive.Option{Name: "pass", Repeats: true, Read: directive.Words(&h.Pass, checkMedia)},
		directive.Option{Name: "secret", Repeats: true, Read: h.readSecret},
		directive.Option{Name: "allow", Repeats: true, Read: h.Allow.read},
		directive.Option{Name: "mode", Read: directive.OneOf(&h.Mode, redacts, observe)},
		directive.Option{Name: "oauth_tokens", Read: directive.OneOf(&h.OAuthTokens, toRedact, toPass)},
		directive.Option{Name: "signed_thinking", Read: directive.OneOf(&h.SignedThinking, toPass, toRedact)},
	)
}

// readSecret reads values that are secrets. Which one a placeholder stands for is known only when the
// configuration is loaded.
func (h *Handler) readSecret(l directive.Line) error {
	var values []string
	if err := directive.Words(&values, checkSecret)(l); err != nil {
		return err
	}
	for _, v := range values {
		if hasPlaceholder(v) {
			h.Places.Note(secretKey(len(h.Secrets)), l)
		}
		h.Secrets = append(h.Secrets, v)
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
