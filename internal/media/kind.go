package media

import "strings"

// Kind is what a body is to those who read it.
type Kind uint8

// The kinds of bodies.
const (
	Unknown      Kind = iota // no type, or one that says nothing: perhaps text
	Text                     // text without a structure that is known here: plain, markup, programs
	JSON                     // a document
	JSONLines                // a document a line
	JSONSequence             // documents behind record separators (RFC 7464)
	Events                   // server-sent events
	Form                     // application/x-www-form-urlencoded
	Multipart                // parts with headers of their own
	GRPC                     // messages in frames, gRPC-Web included
	Binary                   // images, sound, archives: not text, or compressed
)

var kindNames = [...]string{"unknown", "text", "JSON", "JSON lines", "JSON sequence", "events", "form", "multipart", "gRPC", "binary"}

// String returns a name for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Unknown]
}

// Textual reports whether a body of the kind begins with text.
func (k Kind) Textual() bool { return k != Unknown && k != GRPC && k != Binary }

// kinds are the types that are known by their full names. application/octet-stream is not among them:
// it says nothing.
var kinds = map[string]Kind{
	"application/json": JSON,
	"text/json":        JSON,

	"application/x-ndjson":     JSONLines,
	"application/ndjson":       JSONLines,
	"application/jsonl":        JSONLines,
	"application/x-jsonl":      JSONLines,
	"application/jsonlines":    JSONLines,
	"application/x-jsonlines":  JSONLines,
	"application/json-lines":   JSONLines,
	"application/x-json-lines": JSONLines,
	"application/stream+json":  JSONLines,
	"application/json-stream":  JSONLines,
	"text/x-ndjson":            JSONLines,
	"text/ndjson":              JSONLines,
	"text/jsonl":               JSONLines,
	"text/x-jsonl":             JSONLines,
	"application/json-seq":     JSONSequence,

	"text/event-stream":                 Events,
	"application/x-www-form-urlencoded": Form,

	"application/ecmascript":   Text,
	"application/graphql":      Text,
	"application/javascript":   Text,
	"application/toml":         Text,
	"application/x-javascript": Text,
	"application/x-yaml":       Text,
	"application/xml":          Text,
	"application/yaml":         Text,

	// Formats whose text is compressed, or whose bytes carry their own lengths.
	"application/gzip":            Binary,
	"application/java-archive":    Binary,
	"application/pdf":             Binary,
	"application/vnd.rar":         Binary,
	"application/wasm":            Binary,
	"application/x-7z-compressed": Binary,
	"application/x-bzip2":         Binary,
	"application/x-gzip":          Binary,
	"application/x-tar":           Binary,
	"application/x-xz":            Binary,
	"application/zip":             Binary,
	"application/zstd":            Binary,
}

// kindOf returns the kind of a type, which is in lower case, and whether it has the form of one (RFC
// 9110, section 8.3.1).
func kindOf(media string) (k Kind, valid bool) {
	if k, ok := kinds[media]; ok {
		return k, true
	}
	major, minor, _ := strings.Cut(media, "/")
	if !isToken(major) || !isToken(minor) {
		return Unknown, false
	}
	return kindBelow(major, minor), true
}

// kindBelow returns the kind of a type that is not known by its full name.
func kindBelow(major, minor string) Kind {
	if major == "application" && isGRPC(minor) {
		return GRPC // application/grpc+json is JSON in frames
	}
	if i := strings.LastIndexByte(minor, '+'); i >= 0 { // what is written counts more than what for
		switch minor[i+1:] {
		case "json":
			return JSON
		case "json-seq":
			return JSONSequence
		case "xml", "yaml":
			return Text
		case "zip":
			return Binary
		}
	}
	switch major {
	case "text":
		return Text
	case "multipart":
		return Multipart
	case "image", "audio", "video", "font":
		return Binary
	case "application":
		return kindOfOffice(minor)
	}
	return Unknown
}

func isGRPC(minor string) bool {
	rest, ok := strings.CutPrefix(minor, "grpc")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "-web"), "-text")
	return ok && (rest == "" || rest[0] == '+')
}

// kindOfOffice returns the kind of documents of office programs: they are zipped, or plain XML.
func kindOfOffice(minor string) Kind {
	switch {
	case strings.HasPrefix(minor, "vnd.oasis.opendocument.") && strings.HasSuffix(minor, "-xml"):
		return Text
	case strings.HasPrefix(minor, "vnd.oasis.opendocument."), strings.HasPrefix(minor, "vnd.openxmlformats-officedocument."):
		return Binary
	}
	return Unknown
}

// isToken reports whether a text is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '+' {
			continue
		}
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
