package model

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "REDACTED"

// Secret is an API key. Every way of printing it gives REDACTED; only Reveal
// gives the key.
type Secret string

// Reveal returns the key itself, for the header that needs it.
func (s Secret) Reveal() string { return string(s) }

// String returns REDACTED.
func (s Secret) String() string { return redacted }

// Format prints REDACTED for every verb, %d and %#v included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText gives REDACTED to encoders of JSON, YAML and XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue gives REDACTED to log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
