package scan

import (
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/websocket"
)

// talk scans the messages of one direction of a WebSocket, as bodies of its side are: a text like one
// whose type says that it is text, a binary message like one whose type says nothing.
type talk struct {
	report  *report // of the message that comes
	frames  websocket.Rewriter
	windows *windows // of a message longer than max_scan
	size    int64    // of the message, as far as it came
}

// talk makes the direction of a side. What is not scanned passes as it comes.
func (t *tunnel) talk(s side) *talk {
	h := t.handler
	d := &talk{report: h.newReport(t.request, s, t.asker)}
	if slices.Contains(t.sides, s) {
		d.frames = websocket.Rewriter{
			Take: d.take, All: true, Max: int(h.MaxScan),
			Long: h.Beyond == beyondStream || s == response && !h.strict(),
		}
	}
	return d
}

// take scans what comes of a message and returns what may pass.
func (d *talk) take(p websocket.Piece) (out []byte, err error) {
	rep, h := d.report, d.report.handler
	b := media.Body{Kind: media.Text}
	if p.Kind == websocket.Binary {
		b.Kind = media.Unknown
	}
	whole := p.First && p.Last
	if p.Kind != websocket.Control {
		d.size += int64(len(p.Data))
		rep.fail(d.suits(p, b, whole))
	}
	switch {
	case rep.failure() != nil:
	case p.Kind == websocket.Control: // of a few bytes, which need not be text
		rep.scanBody(p.Data, &everything, media.Unknown)
		out = p.Data
	case whole:
		rep.scanBody(p.Data, h.fields, b.Kind)
		out = p.Data
	default:
		out = d.slide(p, b)
	}
	if err = d.judge(); err == nil && p.Last && p.Kind != websocket.Control {
		d.size, d.windows = 0, nil
		rep.renew()
	}
	return out, err
}

// suits tells whether what comes of a message can be scanned. A whole binary one that begins like UTF-16 or
// UTF-32 is scanned as that, too: a number in front of many messages looks like it.
func (d *talk) suits(p websocket.Piece, b media.Body, whole bool) error {
	rep, h := d.report, d.report.handler
	if rep.side == request && d.size > h.MaxBody {
		return errTooLarge
	}
	if !p.First {
		return nil
	}
	start, _ := media.Sniff(p.Data, b.Kind)
	if whole && b.Kind == media.Unknown && !start.Charset.Readable() {
		rep.scanBody(unwiden(p.Data, start), h.fields, media.Text)
		return nil
	}
	return h.suits(start, b, rep.request, rep.side)
}

// slide scans a piece of a long message in windows.
func (d *talk) slide(p websocket.Piece, b media.Body) (out []byte) {
	if d.windows == nil {
		d.windows = newWindows(d.report, b, nil)
	}
	pass := func(window []byte) error {
		out = append(out, window...)
		return d.report.blocked()
	}
	if err := d.windows.write(p.Data, pass); err == nil && p.Last {
		_ = d.windows.close(pass) // which is judged in any case
	}
	return out
}

// judge tells of what was found, and returns how the connection ends if it has to.
func (d *talk) judge() error {
	rep := d.report
	rep.publish(rep.request)
	err := rep.blocked()
	if err == nil {
		return nil
	}
	p := problemOf(err)
	end := &websocket.End{Code: endOf(p), Reason: p.Code}
	if c := rep.concerned(actionBlock); len(c) > 0 && rep.failure() == nil {
		end.Reason += ": " + strings.Join(c, ", ")
		return end
	}
	rep.handler.logger.Warn("a WebSocket was closed because a message cannot be scanned", zap.Error(err), zap.String("path", rep.request.URL.Path))
	return end
}

// endOf returns the code that a WebSocket ends with where a body would be refused with the problem.
func endOf(p problem.Problem) uint16 {
	switch {
	case p.Code == codeFound:
		return websocket.CodePolicy
	case p.Status == http.StatusServiceUnavailable:
		return websocket.CodeTryAgain
	case p.Status == http.StatusRequestEntityTooLarge:
		return websocket.CodeTooLong
	}
	return websocket.CodeUnsupported
}
