package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Answer is what a server sent.
type Answer struct {
	Hops      []Hop    // the requests, the last of which got this answer
	Status    int      // of HTTP
	Type      string   // the media type, without parameters; empty when the server names none
	Text      string   // the document, if it is text
	Binary    bool     // it is none
	Length    int64    // of the document as it was sent, in bytes; -1 when the server does not say
	Truncated bool     // Text is not all of it
	Fields    []string // the headers that tell what came of a request, as lines, redacted

	sent bool // a connection was made, and the last request was written to it, or the beginning of it
}

// told are the headers of an answer that are told of.
var told = []string{"Location", "Allow", "Etag", "Last-Modified", "Retry-After", "Link"}

const maxTold = 500 // bytes of one

const (
	maxType  = 100      // bytes of a media type that is shown
	headSize = 1024     // bytes by which the character set is found, as browsers do
	overlap  = 16 << 10 // bytes of text after the part that is kept: what is cut in a secret is not found to be one
)

// errCoding says that a document is packed in a way that is not read here.
var errCoding = errors.New("the answer is packed in another way than gzip")

// tell keeps the headers that are told of.
func (a *Answer) tell(h http.Header, secrets *redact.Secrets) {
	for _, name := range told {
		if v := h.Get(name); v != "" {
			line := secrets.Redact(plaintext.Clean([]byte(name + ": " + v)))
			a.Fields = append(a.Fields, string(plaintext.Whole([]byte(line[:min(len(line), maxTold)]))))
		}
	}
}

// read reads the answer.
func (a *Answer) read(resp *http.Response, size int, secrets *redact.Secrets) error {
	says := media.Of(resp.Header)
	a.tell(resp.Header, secrets)
	a.Status, a.Length = resp.StatusCode, resp.ContentLength
	if len(says.Type) <= maxType {
		a.Type = says.Type
	}
	most := int64(size + overlap)
	body := io.LimitReader(resp.Body, 2*most) // what is packed is hardly longer than what it holds
	switch says.Coding {
	case "":
		body = io.LimitReader(body, most+1)
	case "gzip":
		z, err := gzip.NewReader(body)
		if errors.Is(err, io.EOF) {
			return nil // nothing was sent
		}
		if err != nil {
			return errors.New("the answer is not the gzip that it says it is")
		}
		body = io.LimitReader(z, most+1)
	default:
		return errCoding
	}
	raw, err := io.ReadAll(body)
	switch {
	case err != nil && resp.Request.Context().Err() != nil:
		return resp.Request.Context().Err()
	case err != nil:
		return errors.New("the answer broke off")
	}
	if int64(len(raw)) > most {
		raw, a.Truncated = raw[:most], true
	}
	text, ok := decode(raw, says, resp.Header.Get("Content-Type"))
	if !ok {
		a.Binary, a.Truncated = true, true
		return nil
	}
	a.Text = secrets.Redact(plaintext.Clean(text))
	if len(a.Text) > size {
		a.Text, a.Truncated = string(plaintext.Whole([]byte(a.Text[:size]))), true
	}
	return nil
}

// decode makes UTF-8 of a document. It is not ok when the document is no text.
func decode(raw []byte, says media.Body, contentType string) (text []byte, ok bool) {
	if says.Kind == media.Binary || says.Kind == media.GRPC {
		return nil, false
	}
	if start, _ := media.Sniff(raw, says.Kind); start.Format != media.NoFormat {
		return nil, false
	}
	head := raw[:min(len(raw), headSize)]
	encoding, _, certain := charset.DetermineEncoding(head, contentType)
	if !certain && binary(head) {
		return nil, false
	}
	if certain || !utf8.Valid(plaintext.Whole(raw)) {
		decoded, err := encoding.NewDecoder().Bytes(raw)
		if err != nil {
			return nil, false
		}
		raw = decoded
	}
	return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), !binary(raw[:min(len(raw), headSize)])
}

// binary reports whether bytes are as in no text: one in ten is a control character, or one is zero.
func binary(b []byte) bool {
	odd := 0
	for _, c := range b {
		switch {
		case c == 0:
			return true
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b:
			odd++
		}
	}
	return odd > len(b)/10
}

// Describe says what came, and over which URLs, in lines of its own.
func (a Answer) Describe() string {
	var b bytes.Buffer
	for i, h := range a.Hops {
		if i > 0 {
			fmt.Fprintf(&b, "redirected (%d) to %s\n", a.Hops[i-1].Status, h.URL)
		} else {
			fmt.Fprintf(&b, "%s %s\n", h.Method, h.URL)
		}
	}
	fmt.Fprintf(&b, "%d %s", a.Status, http.StatusText(a.Status))
	if a.Type != "" {
		fmt.Fprintf(&b, ", %s", a.Type)
	}
	if a.Length >= 0 {
		fmt.Fprintf(&b, ", %d bytes", a.Length)
	}
	return b.String() + "\n"
}
