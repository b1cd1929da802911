package wiretest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Stream is a text in pieces, as a server writes it.
type Stream struct {
	Name        string // what was chosen
	ContentType string
	Events      []string // all of them, the one that ends the stream included
	Text        string   // that the pieces give together
	JSON        bool     // the text is a document
	Hidden      string   // what must not come out; empty: the text has no secret

	shape *shape
}

// New makes a stream of what choose picks, which returns a number from 0 up to n.
func New(choose func(n int) int) *Stream {
	shape, secret := &shapes[choose(len(shapes))], secrets[choose(len(secrets))]
	s := &Stream{ContentType: shape.contentType, Hidden: secret.hidden, JSON: shape.json, shape: shape}
	s.Text = leads[choose(len(leads))] + secret.text
	style, depth := choose(4), 0
	if shape.json {
		depth = choose(3)
		s.Text = document(s.Text, depth, style)
	}
	crlf := choose(4) == 0
	most := []int{1, 2, 3, 5, 9, 20, 60, 1 << 20}[choose(8)]
	s.Name = fmt.Sprintf("%s, %s, depth %d, escapes %d, pieces of %d, CR LF %v", shape.name, secret.name, depth, style, most, crlf)
	for rest := s.Text; rest != ""; {
		n := min(1+choose(most), len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		event := strings.Replace(shape.event, "%s", quote(rest[:n], style), 1)
		if crlf {
			event = strings.ReplaceAll(event, "\n", "\r\n")
		}
		s.Events = append(s.Events, event+shape.end(crlf))
		rest = rest[n:]
	}
	if shape.last != "" {
		s.Events = append(s.Events, shape.last+shape.end(false))
	}
	return s
}

// document puts a text into a document, and that into a string of another one as often as depth says.
func document(text string, depth, style int) string {
	doc := `{"command":` + quote(text, style) + `,"n":12}`
	for range depth {
		doc = `{"body":` + quote(doc, style) + `}`
	}
	return doc
}

// quote writes a text as a string of JSON, in one of several styles.
func quote(text string, style int) string {
	switch style {
	case 1: // without escapes for HTML
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(text) // of a string it cannot fail
		return strings.TrimSuffix(b.String(), "\n")
	case 2: // all that is no letter or digit as \u
		var b strings.Builder
		b.WriteByte('"')
		for _, r := range text {
			switch {
			case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == ' ':
				b.WriteRune(r)
			case r > 0xffff:
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			default:
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
		return b.String() + `"`
	case 3: // some letters, too, and slashes
		var b strings.Builder
		b.WriteByte('"')
		for i, r := range text {
			switch {
			case r == '/':
				b.WriteString(`\/`)
			case r < ' ' || r == '"' || r == '\\' || i%5 == 0 && r < 0x10000:
				fmt.Fprintf(&b, `\u%04X`, r)
			default:
				b.WriteRune(r)
			}
		}
		return b.String() + `"`
	}
	q, _ := json.Marshal(text) // of a string it cannot fail
	return string(q)
}

// Read returns the text of the pieces in what came out of a stream, and the number of events.
func (s *Stream) Read(out string) (text string, events int, err error) {
	out = strings.ReplaceAll(out, "\r\n", "\n")
	end := s.shape.end(false)
	for event := range strings.SplitSeq(strings.TrimSuffix(out, end), end) {
		events++
		if s.shape.last != "" && event == s.shape.last {
			continue
		}
		_, data, ok := strings.Cut("\n"+event, "\ndata: ")
		if s.ContentType == lines {
			data, ok = event, true
		}
		var doc any
		if !ok || json.Unmarshal([]byte(data), &doc) != nil {
			return "", events, fmt.Errorf("event %d is not what it was: %q", events, event)
		}
		piece, err := at(doc, s.shape.path)
		if err != nil {
			return "", events, fmt.Errorf("event %d: %w in %q", events, err, event)
		}
		text += piece
	}
	return text, events, nil
}

// Inner returns what a text of the stream says, however it is written: of a document the text in its
// innermost one.
func (s *Stream) Inner(text string) (string, error) {
	for s.JSON {
		var doc struct {
			Body, Command *string
			N             int
		}
		switch err := json.Unmarshal([]byte(text), &doc); {
		case err != nil:
			return "", fmt.Errorf("reading %q: %w", text, err)
		case doc.Command != nil:
			return *doc.Command + " " + strconv.Itoa(doc.N), nil
		case doc.Body == nil:
			return "", fmt.Errorf("there is no text in %q", text)
		}
		text = *doc.Body
	}
	return text, nil
}

// at returns the string at a path.
func at(doc any, path string) (string, error) {
	for key := range strings.SplitSeq(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return "", fmt.Errorf("there is no element %s", key)
			}
			doc = v[i]
		}
	}
	piece, ok := doc.(string)
	if !ok {
		return "", fmt.Errorf("there is no string at %s", path)
	}
	return piece, nil
}
