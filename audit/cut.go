package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/svc-gateway/svc/scanner/redact"
)

// How much is kept of what strangers can make as long as they like, in bytes. Arguments and results
// of tools and errors are kept whole: they are what the log is for, and bounded where they are made.
const (
	maxPath   = 1 << 10
	maxWord   = 256 // names, ids, methods
	maxReason = 4 << 10
	whole     = math.MaxInt / 2
)

// cut returns text of at most n bytes: the text, or its beginning with the SHA-256 of the whole, so
// that two can be compared. n is at least 128.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return shortened(s, s, n)
}

// shortened is the beginning of a text, with the length and the hash of the whole.
func shortened(begin, s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	end := fmt.Sprintf("…[%d bytes, sha256 %s]", len(s), hex.EncodeToString(sum[:]))
	return strings.ToValidUTF8(begin[:min(len(begin), n-len(end))], "") + end
}

// redacted returns the text without credentials, cut to n bytes. A credential that lies across the
// cut is replaced like the others.
func redacted(s string, n int) string {
	if len(s) <= n {
		return withoutCredentials(s)
	}
	s = clean(s)
	return shortened(withoutCredentials(s[:min(len(s), 2*n)]), s, n)
}

// withoutCredentials replaces credentials. JSON goes through the redactor that knows keys and
// escapes.
func withoutCredentials(s string) string {
	if s == "" {
		return ""
	}
	s = clean(s)
	if t := strings.TrimLeft(s, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[' || t[0] == '"') {
		return clean(string(redact.JSON([]byte(s))))
	}
	return clean(redact.Text(s))
}
