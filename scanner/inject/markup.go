package inject

import (
	"strings"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

const (
	// maxHidden is how much of a hidden element that has no end is looked at.
	maxHidden = 4096
	// minAttribute and minPicture are how long a text must be to say something.
	minAttribute = 8
	minPicture   = 20
)

// unseenTag is what makes an element of HTML one that people do not see.
var unseenTag = newExpression(`display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;"']|opacity\s*:\s*0\s*[;"']|`+
	`color\s*:\s*(?:white|#fff(?:fff)?|transparent)\b|\bhidden\b|left\s*:\s*-\d{3,}|aria-hidden\s*=\s*["']?true`, text.Lower, false)

// hiddenAttributes are those that people do not see, beside data-….
var hiddenAttributes = text.Words(`alt title aria-label content placeholder value summary`)

// hiddenText looks at what markup hides: comments, attributes and elements of HTML, comments and
// the texts of pictures in Markdown.
func (s *scan) hiddenText(v *view) {
	s.hiddenHTML(v)
	s.linkComments(v)
	s.pictures(v)
}

// hiddenHTML looks at what HTML hides.
func (s *scan) hiddenHTML(v *view) {
	t := v.text
	for i := 0; ; {
		n := strings.IndexByte(t[i:], '<')
		if n < 0 || i+n+1 >= len(t) {
			return
		}
		i += n + 1
		switch {
		case t[i] == '!':
			start, end := commentAt(t, i+1)
			s.hide(v, start, end)
			i = max(i, end)
		case text.Is(t[i], text.Letter):
			i = s.tag(v, i)
		}
	}
}

// commentAt returns what stands in the comment whose mark goes on at i.
func commentAt(t string, i int) (start, end int) {
	if i < len(t) && text.Is(t[i], text.Space) {
		i++
	}
	if !strings.HasPrefix(t[i:], "--") {
		return i, i
	}
	start = i + 2
	if n := strings.Index(t[start:], "-->"); n >= 0 {
		return start, start + n
	}
	return start, len(t)
}

// tag looks at the attributes of the tag whose name begins at i, and at the element if it is hidden.
// It returns where to go on.
func (s *scan) tag(v *view, i int) int {
	t := v.text
	end := i
	for at := i; at < len(t); at++ {
		switch t[at] {
		case '>':
			s.element(v, i, at)
			return at + 1
		case '=':
			if start, n := attributeAt(t, i, at); n >= minAttribute {
				s.hide(v, start, start+n)
				end = start + n
				at = end
			}
		}
	}
	return max(end, len(t))
}

// attributeAt returns the value of the attribute whose equals sign stands at i, in a tag that begins
// at from; n is 0 if people see it.
func attributeAt(t string, from, i int) (start, n int) {
	end := i
	for end > from && text.Is(t[end-1], text.Space) {
		end--
	}
	start = end
	for start > from && (text.Is(t[start-1], text.Letter) || t[start-1] == '-') {
		start--
	}
	if start == from || !text.Is(t[start-1], text.Space) {
		return 0, 0
	}
	const longName = 32
	if name := t[start:end]; len(name) > longName || !text.HasPrefixFold(name, "data-") && !hiddenAttributes.HasString(strings.ToLower(name)) {
		return 0, 0
	}
	for i++; i < len(t) && text.Is(t[i], text.Space); i++ {
	}
	if i == len(t) || t[i] != '"' && t[i] != '\'' {
		return 0, 0
	}
	start = i + 1
	return start, max(0, strings.IndexByte(t[start:], t[i]))
}

// element looks at what stands in the element whose tag stands from start to end, if people do not
// see it.
func (s *scan) element(v *view, start, end int) {
	t := v.text
	if s.left < 0 || !unseenTag.matches(t[start:end]) {
		return
	}
	name := start
	for name < end && text.Is(t[name], text.Letter|text.Digit) {
		name++
	}
	close := "</" + strings.ToLower(t[start:name])
	from, to := end+1, min(end+1+maxHidden, len(t))
	for i := from; ; i++ {
		n := strings.IndexByte(t[i:to], '<')
		if n < 0 {
			break
		}
		if i += n; text.HasPrefixFold(t[i:to], close) {
			to = i
			break
		}
	}
	s.hide(v, from, to)
}

// linkComments looks at comments in Markdown: [//]: # (text).
func (s *scan) linkComments(v *view) {
	t := v.text
	for i := 0; ; {
		n := strings.Index(t[i:], "]:")
		if n < 0 {
			return
		}
		i += n + len("]:")
		if !beginsLine(t, i-len("]:")) {
			continue
		}
		if start, end := linkComment(t, i); end-start >= minAttribute {
			s.hide(v, start, end)
			i = end
		}
	}
}

// beginsLine reports whether a label in brackets that ends at i begins a line.
func beginsLine(t string, i int) bool {
	const longLabel, indent = 41, 3
	start := i
	for start > 0 && i-start < longLabel && t[start-1] != '[' && t[start-1] != ']' && t[start-1] != '\n' {
		start--
	}
	if start == i || start == 0 || t[start-1] != '[' {
		return false
	}
	start--
	for n := 0; n < indent && start > 0 && text.Is(t[start-1], text.Blank); n++ {
		start--
	}
	return start == 0 || t[start-1] == '\n'
}

// linkComment returns the comment in a definition of a link whose target would stand at i.
func linkComment(t string, i int) (start, end int) {
	blanks := func() {
		for i < len(t) && text.Is(t[i], text.Space) {
			i++
		}
	}
	blanks()
	switch {
	case i < len(t) && t[i] == '#':
		i++
	case strings.HasPrefix(t[i:], "<>"):
		i += len("<>")
	case strings.HasPrefix(t[i:], "<#>"):
		i += len("<#>")
	case i < len(t) && t[i] == '/':
		for i < len(t) && t[i] == '/' {
			i++
		}
	default:
		return 0, 0
	}
	blanks()
	if i == len(t) || strings.IndexByte(`"'(`, t[i]) < 0 {
		return 0, 0
	}
	start = i + 1
	end = len(t)
	if n := strings.IndexByte(t[start:], '\n'); n >= 0 {
		end = start + n
	}
	for end > start && text.Is(t[end-1], text.Space) {
		end--
	}
	if end--; end < start || strings.IndexByte(`"')`, t[end]) < 0 {
		return 0, 0
	}
	return start, end
}

// pictures looks at the texts of pictures in Markdown.
func (s *scan) pictures(v *view) {
	t := v.text
	for i := 0; ; {
		n := strings.Index(t[i:], "![")
		if n < 0 {
			return
		}
		i += n + len("![")
		end := strings.IndexByte(t[i:], ']')
		if end < 0 {
			return
		}
		if end >= minPicture && strings.HasPrefix(t[i+end:], "](") {
			s.hide(v, i, i+end)
		}
		i += end
	}
}

// hide looks at the bytes from start to end as hidden text.
func (s *scan) hide(v *view, start, end int) {
	if start >= end || s.known(v, end) {
		return
	}
	h := v.part(scanner.ViewMarkup, span{start, end})
	h.hidden, h.undone = true, h.undone|marked
	s.look(h)
}
