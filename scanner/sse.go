package scanner

// SSERedactor redacts a text/event-stream.
type SSERedactor struct{ Redactor }

// NewSSERedactor returns a redactor of a text/event-stream.
func NewSSERedactor() *SSERedactor { return new(SSERedactor) }
