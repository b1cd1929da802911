package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// joined redacts what the lines of an event's data make together. The standard puts a line end between
// them; a server that cuts its text anywhere means none, and neither does a reader who joins the lines
// without one. text has been redacted with its line ends; their number and order stay.
func joined(text []byte, from *Secrets) []byte {
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) < 2 {
		return text
	}
	whole := bytes.Join(lines, nil)
	var s Stream
	switch {
	case len(whole) > 0 && (whole[0] == '{' || whole[0] == '[' || whole[0] == '"') && jsonscan.Valid(whole):
		s = from.JSONStream()
	case spanned(lines, whole), spannedKnown(whole, from):
		s = from.TextStream()
	default:
		return text
	}
	out := make([]byte, 0, len(text)+len(Mark))
	for i, line := range lines {
		if i > 0 {
			out = append(out, '\n')
		}
		out = s.Append(out, line)
	}
	return s.Close(out)
}

// spanned reports whether a mark of a rule begins in a line and ends in the next, or a token that has
// one: a word behind a line end may be the secret that is announced before it, and is most often none.
func spanned(lines [][]byte, whole []byte) bool {
	at := 0
	for i := range lines[:len(lines)-1] {
		at += len(lines[i])
		state, from := literal.State(0), max(0, at-lookBehind)
		near := whole[from:min(len(whole), at+lookBehind)]
		for n := 0; n < len(near); {
			next, m, found := marks.Find(state, near[n:])
			if state, n = next, n+m; !found {
				break
			}
			for _, mark := range marks.Ends(state) {
				start, end := from+n-len(mark.Text), from+n
				if start < at && (end > at || mark.Token && end <= at && !bytes.ContainsAny(whole[end:at], " \t") && at < len(whole) && whole[at] > ' ') {
					return true
				}
			}
		}
	}
	return false
}

// spannedKnown reports whether the lines have a known secret together that none of them has.
func spannedKnown(whole []byte, from *Secrets) bool {
	forms := from.load()
	if forms == nil {
		return false
	}
	_, form := forms.Find(whole, true)
	return form != ""
}
