package scan

import (
	"errors"
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
//		classifier <url> {
//			action     log|annotate|block
//			shape      plain|openai
//			model      <name>
//			api_key    {env.<name>}|{file./<path>}
//			ca_file    <path>
//			timeout    <duration>
//			threshold  <number>
//			fail       open|closed
//			failures   <number>
//			pause      <duration>
//			max_text   <size>
//			piece      <size>
//			calls      <number>
//			unredacted
//		}
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
	var both directive.Line // the last of max_scan and max_body
	err := directive.Read(d,
		directive.Option{Name: "bodies", Repeats: true, Read: h.readBodies},
		directive.Option{Name: "action", Repeats: true, Read: h.readAction},
		directive.Option{Name: "model", Read: directive.OneOf(&h.Model, actionNames...)},
		directive.Option{Name: "classifier", Read: h.readClassifier},
		directive.Option{Name: "max_scan", Read: func(l directive.Line) error {
			both = l.Mark()
			h.Places.Note("max_scan", l)
			return size(&h.MaxScan)(l)
		}},
		directive.Option{Name: "max_body", Read: func(l directive.Line) error {
			both = l.Mark()
			return size(&h.MaxBody)(l)
		}},
		directive.Option{Name: "beyond", Read: directive.OneOf(&h.Beyond, beyondStream, beyondRefuse)},
		directive.Option{Name: "encoded", Read: directive.OneOf(&h.Encoded, encodedRefuse, encodedDecode, encodedPass)},
		directive.Option{Name: "binary", Read: directive.OneOf(&h.Binary, binaryShallow, binaryScan, binaryPass)},
		directive.Option{Name: "max_wait", Read: h.readMaxWait},
		directive.Option{Name: "refusals", Read: directive.OneOf(&h.Refusals, speeches...)},
		directive.Option{Name: "shape", Read: directive.OneOf(&h.Shape, shapeNames...)},
		directive.Option{Name: "fields", Read: directive.Words(&h.Fields, checkPath)},
		directive.Option{Name: "skip", Read: directive.Words(&h.Skip, checkPath)},
	)
	switch {
	case err != nil || h.MaxBody == 0: // what max_scan may be is a setting
		return err
	case h.MaxScan > h.MaxBody:
		return both.Say(errors.New("max_scan is more than max_body: write less, what is longer than max_body is refused anyway"))
	}
	if delete(h.Places, "max_scan"); len(h.Places) == 0 {
		h.Places = nil
	}
	return nil
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
		return l.Errf("%q is not a positive duration: write a number with its unit, such as 30s or 1m", value)
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
		switch {
		case err != nil:
			return l.Errf("%v", err)
		case n == 0 || n > maxSize:
			return l.Errf("%q is out of range: write 1 to 1024GiB, such as 4MiB", value)
		}
		*to = n
		return nil
	}
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
