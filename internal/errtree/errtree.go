// Package errtree writes an error with all that it wraps, for records that people read when something went wrong.
// Nothing in it has state.
package errtree

import (
	"errors"
	"fmt"
	"strings"
)

const (
	maxText  = 4 << 10 // bytes, about
	maxDepth = 16      // errors within each other that are shown
)

// Text is the error with those that it wraps, each with its type on a line of its own, the outermost first.
func Text(err error) string {
	var b strings.Builder
	write(&b, err, 0)
	return b.String()
}

func write(b *strings.Builder, err error, depth int) {
	if err == nil || depth == maxDepth || b.Len() > maxText {
		return
	}
	text := err.Error()
	if len(text) > maxText/4 {
		text = strings.ToValidUTF8(text[:maxText/4], "") + "…"
	}
	fmt.Fprintf(b, "%s%T: %s\n", strings.Repeat("  ", depth), err, strings.ReplaceAll(text, "\n", "; "))
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			write(b, e, depth+1)
		}
		return
	}
	write(b, errors.Unwrap(err), depth+1)
}
