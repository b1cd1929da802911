package scan

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/internal/bytesize"
)

func init() { directive.Register[Handler]("svc_scan") }

// UnmarshalCaddyfile reads the directive:
//
//	svc_scan [<matcher>] {
//		bodies   request|response... [{
//			type <media type>...
//			path <path>...
//		}]
//		action   log|annotate|block [<category>...]
//		model    log|annotate|block
//		max_scan <size>
//		max_body <size>
//		beyond   stream|refuse
//		encoded  refuse|decode|pass
//		binary   shallow|scan|pass
//		max_wait <duration>
//		shape    openai|anthropic|ollama|protocol|mcp
//		refusals problem|openai|anthropic|ollama|jsonrpc
//		fields   <path>...
//		skip     <path>...
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	err := directive.Read(d,
		directive.Option{Name: "bodies", Repeats: true, Read: h.readBodies},
		directive.Option{Name: "action", Repeats: true, Read: h.readAction},
		directive.Option{Name: "model", Read: directive.OneOf(&h.Model, actionNames...)},
		directive.Option{Name: "max_scan", Read: size(&h.MaxScan)},
		directive.Option{Name: "max_body", Read: size(&h.MaxBody)},
		directive.Option{Name: "beyond", Read: directive.OneOf(&h.Beyond, beyondStream, beyondRefuse)},
		directive.Option{Name: "encoded", Read: directive.OneOf(&h.Encoded, encodedRefuse, encodedDecode, encodedPass)},
		directive.Option{Name: "binary", Read: directive.OneOf(&h.Binary, binaryShallow, binaryScan, binaryPass)},
		directive.Option{Name: "max_wait", Read: h.readMaxWait},
		directive.Option{Name: "refusals", Read: directive.OneOf(&h.Refusals, speeches...)},
		directive.Option{Name: "shape", Read: directive.OneOf(&h.Shape, shapeNames...)},
		directive.Option{Name: "fields", Read: directive.Words(&h.Fields, checkPath)},
		directive.Option{Name: "skip", Read: directive.Words(&h.Skip, checkPath)},
	)
	if err == nil && h.MaxBody > 0 && h.MaxScan > h.MaxBody {
		return d.Err("svc_scan: max_scan is more than max_body")
	}
	return err
}

// readBodies reads "bodies request response", and a block behind it, which is for those of the line.
func (h *Handler) readBodies(l directive.Line) error {
	values, err := l.Some()
	if err != nil {
		return err
	}
	for _, v := range values {
		if err := l.Known(v, string(request), string(response)); err != nil {
			return err
		}
		if slices.Contains(h.Bodies, v) {
			return l.Errf("%s is given twice", v)
		}
		h.Bodies = append(h.Bodies, v)
	}
	c, err := readChoice(l)
	if err != nil || c == nil {
		return err
	}
	if h.Choose == nil {
		h.Choose = map[string]*Choice{}
	}
	for _, v := range values {
		h.Choose[v] = c
	}
	return nil
}

func (h *Handler) readMaxWait(l directive.Line) error {
	value, err := l.One()
	if err != nil {
		return err
	}
	d, err := caddy.ParseDuration(value)
	if err != nil || d <= 0 {
		return l.Errf("%q is not a duration such as 30s", value)
	}
	h.MaxWait = caddy.Duration(d)
	return nil
}

// readAction reads "action block role_hijacking …"; without categories it is for all others.
func (h *Handler) readAction(l directive.Line) error {
	values, err := l.Some()
	if err != nil {
		return err
	}
	action, categories := values[0], values[1:]
	if err := l.Known(action, actionNames...); err != nil {
		return err
	}
	if len(categories) == 0 {
		categories = []string{anyCategory}
	}
	if h.Actions == nil {
		h.Actions = map[string]string{}
	}
	for _, c := range categories {
		if c != anyCategory && !slices.Contains(categoryNames, c) {
			return l.Errf("unknown category %q: want some of %s", c, strings.Join(categoryNames, ", "))
		}
		if _, ok := h.Actions[c]; ok {
			return l.Errf("there are two for %s", strings.ReplaceAll(c, anyCategory, "all other categories"))
		}
		h.Actions[c] = action
	}
	return nil
}

func checkPath(value string) error {
	_, err := parsePath(value)
	return err
}

// maxSize is the largest size an option accepts: a body of more is no request to an agent.
const maxSize = 1 << 40

func size(to *int64) func(directive.Line) error {
	return func(l directive.Line) error {
		value, err := l.One()
		if err != nil {
			return err
		}
		n, err := bytesize.Parse(value)
		if err != nil || n == 0 || n > maxSize {
			return l.Errf("%q is not a size such as 4MiB", value)
		}
		*to = n
		return nil
	}
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
