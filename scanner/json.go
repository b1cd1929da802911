package scanner

// JSONRedactor redacts a JSON document.
type JSONRedactor struct{ Redactor }

// NewJSONRedactor returns a redactor of a JSON document.
func NewJSONRedactor() *JSONRedactor { return new(JSONRedactor) }

// SSERedactor redacts a text/event-stream.
type SSERedactor struct{ Redactor }

// NewSSERedactor returns a redactor of a text/event-stream.
func NewSSERedactor() *SSERedactor { return new(SSERedactor) }

// RedactJSON returns the JSON document with its secrets redacted.
func RedactJSON(doc []byte) []byte { return []byte(Redact(string(doc))) }
