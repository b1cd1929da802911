package media

import (
	"net/http"
	"strings"
)

// Body is what a header says of the body that belongs to it. The zero value is a body of which
// nothing is said.
type Body struct {
	// Type is the media type without parameters, in lower case: "text/plain". It is empty where none
	// is given or what is given is malformed. Of several it is the first.
	Type string

	// Kind is what a body of the type is.
	Kind Kind

	// Charset is the character set that is declared.
	Charset Charset

	// Coding is the Content-Encoding in lower case, without identity: "gzip", or "gzip, br" where
	// there are several, in the order in which they were applied. Empty says that there is none.
	// Names are not checked; x-gzip, which is the same, is given as gzip.
	Coding string

	// Ambiguous says that there are several types and readers may differ in which one counts.
	// The Kind is then Events if any of them is: what looks after streams must not miss one.
	Ambiguous bool
}

// Of returns what the header says of its body.
func Of(h http.Header) Body {
	b := Body{Coding: codingOf(h["Content-Encoding"])}
	first := ""
	for _, rest := range h["Content-Type"] {
		b.Charset = max(b.Charset, charsetIn(rest))
		for more := true; more; {
			var element string
			var open bool
			element, rest, more, open = cutElement(rest)
			b.Ambiguous = b.Ambiguous || open
			name, _, _ := strings.Cut(element, ";")
			if name = lower(trim(name)); name == "" {
				continue
			}
			kind, valid := kindOf(name)
			switch {
			case first == "":
				if first, b.Kind = name, kind; valid {
					b.Type = name
				}
			case name != first || kind == Multipart: // whose boundaries may differ
				b.Ambiguous = true
				if kind == Events {
					b.Kind = Events
				}
			}
		}
	}
	return b
}

// Readable reports whether the header leaves no doubt that bytes of ASCII in the body are text. It
// does not consider the Coding.
func (b Body) Readable() bool { return !b.Ambiguous && b.Charset.Readable() }

// cutElement cuts the first element off a list, at a comma outside of quotes. open says that a quote
// has no end, which readers take differently.
func cutElement(list string) (element, rest string, more, open bool) {
	if strings.IndexByte(list, ',') < 0 && strings.IndexByte(list, '"') < 0 {
		return list, "", false, false
	}
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return list[:i], list[i+1:], true, false
		}
	}
	return list, "", false, quoted
}

// codingOf joins the codings of all fields but identity.
func codingOf(fields []string) string {
	first := ""
	var all strings.Builder // of more than one
	for _, field := range fields {
		for name := range strings.SplitSeq(field, ",") {
			name = lower(trim(name))
			if name == "x-gzip" { // RFC 9110, section 8.4.1.3
				name = "gzip"
			}
			switch {
			case name == "", name == "identity":
				continue
			case first == "":
				first = name
				continue
			case all.Len() == 0:
				all.WriteString(first)
			}
			all.WriteString(", ")
			all.WriteString(name)
		}
	}
	if all.Len() > 0 {
		return all.String()
	}
	return first
}

// trim cuts white space of HTTP off both ends. Other characters without a look are part of a name,
// and make it one that nobody knows.
func trim(s string) string { return strings.Trim(s, " \t\r\n") }

// lower is strings.ToLower for ASCII, which is all that names are made of.
func lower(s string) string {
	isUpper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i := range len(s) {
		if !isUpper(s[i]) {
			continue
		}
		p := []byte(s)
		for ; i < len(p); i++ {
			if isUpper(p[i]) {
				p[i] += 'a' - 'A'
			}
		}
		return string(p)
	}
	return s
}
