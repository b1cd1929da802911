package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/internal/media"
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
		if w.handler.OAuthTokens == oauthPass && mayIssue(w.request, w.status, w.media) {
			return &tokens{known: w.known, allowed: w.allowed}
		}
		return w.secrets.JSONStream()
	}
	switch text := bytes.TrimLeft(p, " \t\r\n"); {
	case len(text) == 0:
		return nil
	case text[0] == '{' || text[0] == '[':
		return w.secrets.JSONStream()
	}
	return w.secrets.TextStream()
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
