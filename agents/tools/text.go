package tools

import (
	"fmt"
	"strings"
)

// noted returns text with a note on a line of its own at its end.
func noted(text, format string, args ...any) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + fmt.Sprintf(format, args...) + "]\n"
}
