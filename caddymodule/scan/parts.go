package scan

import (
	"bytes"
	"mime"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/svc-gateway/svc/internal/media"
)

// maxPartHeader is the longest header of a part that is read as one.
const maxPartHeader = 16 << 10

// parts judges the parts of a multipart body one by one, each by its own type and bytes. Readers differ
// in what they take for a delimiter, so every place where one could be is taken for one: then nothing
// that is a part to anybody is hidden within another one.
type parts struct {
	delimiter []byte
	kind      media.Kind // of the part in which the next bytes are
}

// partsOf returns the parts of a body with that header. It is nil where readers may differ in what the
// boundary is, or where there is none: then all of the body is text.
func partsOf(h http.Header) *parts {
	types := h["Content-Type"]
	if len(types) != 1 || strings.Count(strings.ToLower(types[0]), "boundary") != 1 {
		return nil
	}
	_, params, err := mime.ParseMediaType(types[0])
	if boundary := params["boundary"]; err == nil && len(boundary) > 0 && len(boundary) <= 200 {
		return &parts{delimiter: []byte("--" + boundary), kind: media.Text}
	}
	return nil
}

// scan gives each piece of p, which begins where the next bytes are, to visit: the headers, and what
// belongs to a part, with its kind. fail gets why one cannot be scanned. It returns where p has to be
// scanned from once more, together with what follows it: keep bytes before its end, or a little more
// where a header is not complete.
func (ps *parts) scan(p []byte, keep int, visit func(piece []byte, k media.Kind), fail func(error)) (from int) {
	from = max(0, len(p)-keep)
	at, kind := 0, ps.kind
	for {
		i := bytes.Index(p[at:], ps.delimiter)
		end := at + i
		if i < 0 {
			end = len(p)
		}
		if at <= from {
			ps.kind = kind // unless another part begins before from
		}
		visit(p[at:end], kind)
		if i < 0 {
			return from
		}
		head := end + len(ps.delimiter)
		var n int
		var readable bool
		if kind, n, readable = kindOfPart(p[head:]); n > 0 {
			visit(p[head:head+n], media.Text)
		}
		at = head + n
		if from > end && from < at || n == 0 && from > end && len(p)-end < maxPartHeader {
			from = end
		}
		if start, _ := media.Sniff(p[at:], kind); !readable || n > 0 && !start.Charset.Readable() {
			fail(errCharset)
		}
	}
}

// kindOfPart reads the header of a part, which begins behind its delimiter, and returns what the part
// is, how long the header is (0 where there is none that is complete; then it is text), and whether its
// character set can be read.
func kindOfPart(p []byte) (k media.Kind, n int, readable bool) {
	for _, blank := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(p[:min(len(p), maxPartHeader)], []byte(blank)); i >= 0 && (n == 0 || i+len(blank) < n) {
			n = i + len(blank)
		}
	}
	if n == 0 {
		return media.Text, 0, true
	}
	header, file := http.Header{}, false
	for line := range strings.SplitSeq(string(p[:n]), "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
		header.Add(name, strings.TrimSpace(value))
		file = file || name == "Content-Disposition" && strings.Contains(strings.ToLower(value), "filename")
	}
	b := media.Of(header)
	if b.Ambiguous || len(header["Content-Type"]) > 1 || b.Type == "" && !file { // or a field of a form
		return media.Text, n, b.Charset.Readable()
	}
	return b.Kind, n, b.Charset.Readable()
}
