package stream

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/svc-gateway/svc/caddymodule/directive"
)

func init() { directive.Register[Handler]("svc_stream") }

// UnmarshalCaddyfile reads the directive:
//
//	svc_stream [<matcher>] {
//		keepalive       <duration>|off
//		keepalive_style newline|comment
//		write_timeout   <duration>
//		grace           <duration>
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	var style directive.Line
	err := directive.Read(d,
		directive.Option{Name: "keepalive", Read: h.readKeepalive},
		directive.Option{Name: "keepalive_style", Read: func(l directive.Line) error {
			style = l.Mark()
			return directive.OneOf(&h.KeepaliveStyle, styleNewline, styleComment)(l)
		}},
		directive.Option{Name: "write_timeout", Read: duration(&h.WriteTimeout)},
		directive.Option{Name: "grace", Read: duration(&h.Grace)},
	)
	if err == nil && h.Keepalive < 0 && h.KeepaliveStyle != "" {
		return style.Errf("it has no meaning with keepalive off: leave one of them out")
	}
	return err
}

func (h *Handler) readKeepalive(l directive.Line) error {
	value, err := l.One()
	switch {
	case err != nil:
		return err
	case value == "off":
		h.Keepalive = -1
		return nil
	}
	if err := positive(l, value, &h.Keepalive); err != nil {
		return err
	}
	if err := checkKeepalive(h.Keepalive); err != nil {
		return l.Errf("%v", err)
	}
	return nil
}

func duration(to *caddy.Duration) func(directive.Line) error {
	return func(l directive.Line) error {
		value, err := l.One()
		if err != nil {
			return err
		}
		return positive(l, value, to)
	}
}

func positive(l directive.Line, value string, to *caddy.Duration) error {
	dur, err := caddy.ParseDuration(value)
	if err != nil {
		return l.Errf("%q is not a duration: write a number with its unit, such as 500ms, 8s or 1m", value)
	}
	if dur <= 0 {
		return l.Errf("%s is not positive: write a longer time, such as 8s", value)
	}
	*to = caddy.Duration(dur)
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
