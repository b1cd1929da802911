package scan

import (
	"net/http"
	"strings"
)

// kind is how a response is scanned.
type kind uint8

const (
	whole  kind = iota // as a document or text
	events             // server-sent events
	lines              // a JSON document on each line
	binary             // not at all
)

// kindOf tells the kind of a response by its header.
func kindOf(h http.Header) kind {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch media {
	case "text/event-stream":
		return events
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json-seq":
		return lines
	case "application/gzip", "application/pdf", "application/zip", "application/zstd", "application/wasm", "application/x-tar", "application/x-gzip":
		return binary
	}
	major, minor, _ := strings.Cut(media, "/")
	switch major {
	case "image", "audio", "video", "font":
		if !strings.HasSuffix(minor, "+xml") && !strings.HasSuffix(minor, "+json") {
			return binary
		}
	}
	return whole
}

// keptOnRefusal reports whether a field was not the refused response's own.
func keptOnRefusal(name string) bool {
	switch name {
	case "Alt-Svc", "Date", "Server", "Vary", "Via", "X-Request-Id":
		return true
	}
	return strings.HasPrefix(name, "Access-Control-")
}
