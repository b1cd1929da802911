package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/svc-gateway/svc/cmd/service/ask"
)

// printDiff shows the lines and the difference that a call has among its arguments as lines, for who is to
// approve it.
func printDiff(w io.Writer, input json.RawMessage) {
	var a struct{ Lines, Diff string }
	if json.Unmarshal(input, &a) != nil || a.Diff == "" {
		return
	}
	for _, part := range []struct{ what, text string }{{"lines", a.Lines}, {"changes", a.Diff}} {
		fmt.Fprintf(w, "  %s:\n", part.what)
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(w, "    %s\n", ask.Reveal(strings.TrimRight(line, "\r\n")))
		}
	}
}
