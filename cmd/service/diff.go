package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/svc-gateway/svc/cmd/service/ask"
)

// printDiff shows the lines and the difference that a call has among its arguments as lines, or the changes
// of an import, for who is to approve it.
func printDiff(w io.Writer, input json.RawMessage) {
	var a struct{ Lines, Diff, Changes string }
	if json.Unmarshal(input, &a) != nil {
		return
	}
	parts := []struct{ what, text string }{{"lines", a.Lines}, {"changes", a.Diff}}
	switch {
	case a.Diff == "" && a.Changes == "":
		return
	case a.Diff == "":
		parts = []struct{ what, text string }{{"changes", a.Changes}}
	}
	for _, part := range parts {
		fmt.Fprintf(w, "  %s:\n", part.what)
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(w, "    %s\n", ask.Reveal(strings.TrimRight(line, "\r\n")))
		}
	}
}
