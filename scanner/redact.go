package scanner

import "regexp"

// Redacted stands where a secret stood.
const Redacted = "REDACTED"

// Transformer rewrites a stream piece by piece.
type Transformer interface {
	// Append appends to dst what can be written now that src has come, and returns dst.
	Append(dst, src []byte) []byte
	// Close appends the rest and returns dst. An open secret is closed as one.
	Close(dst []byte) []byte
}

var simple = regexp.MustCompile(`(?i)((?:password|community|secret|key-string|pre-shared-key)["']?(?:\s*[=:]\s*|\s+[0-9]\s+|\s+)["']?)([^\s"']+)`)

type buffered struct{ all []byte }

func (b *buffered) Append(dst, src []byte) []byte { b.all = append(b.all, src...); return dst }
func (b *buffered) Close(dst []byte) []byte {
	dst = append(dst, simple.ReplaceAll(b.all, []byte("${1}"+Redacted))...)
	b.all = nil
	return dst
}

// Redactor redacts plain text. The zero value is ready for use.
type Redactor struct{ buffered }

// NewRedactor returns a redactor of plain text.
func NewRedactor() *Redactor { return new(Redactor) }

// JSONRedactor redacts a JSON document.
type JSONRedactor struct{ buffered }

// NewJSONRedactor returns a redactor of a JSON document.
func NewJSONRedactor() *JSONRedactor { return new(JSONRedactor) }

// SSERedactor redacts a text/event-stream.
type SSERedactor struct{ buffered }

// NewSSERedactor returns a redactor of a text/event-stream.
func NewSSERedactor() *SSERedactor { return new(SSERedactor) }

// Redact returns the text with its secrets redacted.
func Redact(text string) string { return string(simple.ReplaceAllString(text, "${1}"+Redacted)) }

// RedactJSON returns the JSON document with its secrets redacted.
func RedactJSON(doc []byte) []byte { return simple.ReplaceAll(doc, []byte("${1}"+Redacted)) }
