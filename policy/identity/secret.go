package identity

import (
	"fmt"
	"log/slog"
)

// redacted stands for a secret wherever one would be printed.
const redacted = "REDACTED"

// Secret is a token. Whatever prints, formats, logs or marshals it gets REDACTED; only
// [Secret.Reveal] gives the text. Two things are beyond its reach: the verb %p, which go vet
// refuses, and being the key of a map that is marshalled as JSON.
type Secret string

// Reveal returns the token itself, to be shown once to its owner.
func (s Secret) Reveal() string { return string(s) }

// String returns REDACTED.
func (Secret) String() string { return redacted }

// GoString returns REDACTED.
func (Secret) GoString() string { return redacted }

// Format writes REDACTED whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText returns REDACTED.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns "REDACTED".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns REDACTED.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
