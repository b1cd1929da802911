package ask

import (
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/scanner/command"
)

// Reveal is text that people judge by what they see: what has no look, or changes that of its neighbours,
// is shown as an escape.
func Reveal(s string) string {
	var b strings.Builder
	for _, r := range s {
		if command.Visible(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
