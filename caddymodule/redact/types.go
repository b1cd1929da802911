package redact

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// kind is how a body is redacted.
type kind uint8

const (
	unknown  kind = iota // redacted as text, whatever it is
	text                 // of a type that is text
	document             // JSON
	lines                // JSON lines
	events               // server-sent events
	binary               // passes untouched
	opaque               // text that the scanner cannot read
)

// kindOf tells the kind of a body by its header.
func (h *Handler) kindOf(header http.Header) kind {
	values := header["Content-Type"]
	if len(values) == 0 {
		return unknown
	}
	if len(values) > 1 {
		return opaque // clients differ in which one counts
	}
	media, params, _ := strings.Cut(values[0], ";")
	media = strings.ToLower(strings.TrimSpace(media))
	if h.passes(media) {
		return binary
	}
	switch {
	case wide(params):
		return opaque
	case media == "text/event-stream":
		return events
	case jsonLines[media]:
		return lines
	case media == "application/json", strings.HasSuffix(media, "+json"):
		return document
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "+xml"):
		return text
	}
	return unknown
}

// jsonLines are the types of one JSON document a line.
var jsonLines = map[string]bool{
	"application/x-ndjson":     true,
	"application/ndjson":       true,
	"application/jsonl":        true,
	"application/jsonlines":    true,
	"application/x-jsonlines":  true,
	"application/json-lines":   true,
	"application/stream+json":  true,
	"application/json-stream":  true,
	"application/x-json-lines": true,
}

func (h *Handler) passes(media string) bool {
	major, _, _ := strings.Cut(media, "/")
	switch major {
	case "image", "audio", "video", "font":
		if !strings.HasSuffix(media, "+xml") && !strings.HasSuffix(media, "+json") {
			return true
		}
	case "application":
		if passed[media] || strings.HasSuffix(media, "+zip") ||
			strings.HasPrefix(media, "application/vnd.openxmlformats-officedocument.") ||
			strings.HasPrefix(media, "application/vnd.oasis.opendocument.") {
			return true
		}
	}
	for _, p := range h.Pass {
		if p == media || strings.HasSuffix(p, "/*") && p[:len(p)-2] == major {
			return true
		}
	}
	return false
}

// passed are formats whose text is compressed, or whose bytes carry their own lengths.
// application/octet-stream is not among them: it says nothing.
var passed = map[string]bool{
	"application/gzip":            true,
	"application/java-archive":    true,
	"application/pdf":             true,
	"application/vnd.rar":         true,
	"application/wasm":            true,
	"application/x-7z-compressed": true,
	"application/x-bzip2":         true,
	"application/x-gzip":          true,
	"application/x-tar":           true,
	"application/x-xz":            true,
	"application/zip":             true,
	"application/zstd":            true,
}

// wide reports whether the parameters of a media type name a character set in which ASCII
// letters are not single bytes of their own value.
func wide(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "charset") {
			continue
		}
		value = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"'`))
		for _, prefix := range []string{"utf-16", "utf16", "utf-32", "utf32", "utf-7", "utf7", "ucs", "unicode", "iso-10646", "ebcdic", "ibm", "cp037", "cp500", "cp10"} {
			if strings.HasPrefix(value, prefix) {
				return true
			}
		}
	}
	return false
}

// wideStart reports whether a body begins like UTF-16 or UTF-32: with a byte order mark, or
// with ASCII letters and zeros by turns.
func wideStart(p []byte) bool {
	if len(p) >= 2 && (p[0] == 0xFE && p[1] == 0xFF || p[0] == 0xFF && p[1] == 0xFE) {
		return true
	}
	return len(p) >= 4 && (p[0] == 0 && p[1] != 0 && p[2] == 0 && p[3] != 0 ||
		p[0] != 0 && p[1] == 0 && p[2] != 0 && p[3] == 0 ||
		p[0] == 0 && p[1] == 0 && p[2] == 0 && p[3] != 0 || p[0] != 0 && p[1] == 0 && p[2] == 0 && p[3] == 0)
}

// packedStart reports whether a body begins like gzip, zstd, xz or bzip2.
func packedStart(p []byte) bool {
	for _, magic := range [...]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zX", "BZh9"} {
		if bytes.HasPrefix(p, []byte(magic)) {
			return true
		}
	}
	return false
}

// early reports whether p is too short to tell text from what wideStart and packedStart find.
func early(p []byte) bool {
	if len(p) >= 4 {
		return false
	}
	return len(p) < 2 || p[1] == 0 || p[0] == 0 || p[0] == 0x28 || p[0] == 0xfd || p[0] == 'B' && p[1] == 'Z'
}

func checkMedia(media string) error {
	major, minor, ok := strings.Cut(media, "/")
	switch {
	case !ok || major == "" || minor == "" || strings.ContainsAny(media, "; \t"):
		return fmt.Errorf("%q is not a media type such as application/x-protobuf or model/*", media)
	case major == "*":
		return fmt.Errorf("%q would pass everything: leave svc_redact out instead", media)
	case strings.ToLower(media) != media:
		return fmt.Errorf("%q has to be written in lower case", media)
	}
	return nil
}
