package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact"
)

// transformer returns what redacts a body of this kind that begins with p; nil where nothing but
// white space has come and the kind does not tell.
func (w *writer) transformer(p []byte) redact.Stream {
	switch w.media.Kind {
	case media.Events:
		return w.secrets.EventStream()
	case media.JSONLines:
		return w.secrets.LineStream()
	case media.JSONSequence:
		return sequence{w.secrets.JSONStream()}
	case media.JSON:
		if w.handler.OAuthTokens == toPass && mayIssue(w.request, w.status, w.media) {
			return &tokens{known: w.known, allowed: w.allowed}
		}
		return &firstLine{secrets: w.secrets}
	}
	switch text := bytes.TrimLeft(p, " \t\r\n"); {
	case len(text) == 0:
		return nil
	case text[0] == '{' || text[0] == '[':
		return &firstLine{secrets: w.secrets}
	}
	return w.secrets.TextStream()
}

// maxFirstLine is how much of a body is kept to see whether each of its lines is a document.
const maxFirstLine = 16 << 10

// firstLine redacts what begins like JSON. If the first line is a document by itself, each line is
// read as one, whatever the type says; else all of it is.
type firstLine struct {
	secrets *redact.Secrets
	kept    []byte
	body    redact.Stream
}

// Append implements redact.Stream.
func (f *firstLine) Append(dst, src []byte) []byte {
	if f.body != nil {
		return f.body.Append(dst, src)
	}
	f.kept = append(f.kept, src...)
	line := bytes.TrimLeft(f.kept, " \t\r\n")
	switch end := bytes.IndexByte(line, '\n'); {
	case end >= 0 && jsonscan.Valid(line[:end]):
		f.body = f.secrets.LineStream()
	case end >= 0 || len(f.kept) > maxFirstLine:
		f.body = f.secrets.JSONStream()
	default:
		return dst
	}
	dst = f.body.Append(dst, f.kept)
	f.kept = nil
	return dst
}

// Close implements redact.Stream.
func (f *firstLine) Close(dst []byte) []byte {
	if f.body == nil {
		if f.secrets.Clean(f.kept) {
			return append(dst, f.kept...)
		}
		f.body = f.secrets.JSONStream()
		dst = f.body.Append(dst, f.kept)
	}
	return f.body.Close(dst)
}

// Waits implements redact.Idler.
func (f *firstLine) Waits() bool {
	lines, ok := f.body.(redact.Idler)
	return ok && lines.Waits()
}

// Idle implements redact.Idler.
func (f *firstLine) Idle(dst []byte) []byte {
	if lines, ok := f.body.(redact.Idler); ok {
		return lines.Idle(dst)
	}
	return dst
}

// separator is what each document of a sequence begins with (RFC 7464). Within one it cannot stand.
const separator = '\x1e'

// sequence redacts JSON documents behind separators. Each is one by itself, whole or not.
type sequence struct{ document redact.Stream }

// Append implements redact.Stream.
func (s sequence) Append(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, separator)
		if i < 0 {
			return s.document.Append(dst, src)
		}
		dst = s.document.Close(s.document.Append(dst, src[:i]))
		dst = append(dst, separator)
		src = src[i+1:]
	}
}

// Close implements redact.Stream.
func (s sequence) Close(dst []byte) []byte { return s.document.Close(dst) }
