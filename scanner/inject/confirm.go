package inject

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// confirmation is an expression that the text around the words of a threat must match, in the
// forms that the views need.
type confirmation struct {
	plain, leet, joined func() *expression
}

// expression is a compiled one with what a text must hold to match it.
type expression struct {
	*regexp.Regexp
	needs required
}

func compile(text string) *expression {
	e := &expression{Regexp: regexp.MustCompile(text)}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		e.needs = requiredBy(tree)
	}
	return e
}

// matches reports whether the text, in lower case, has a match.
func (e *expression) matches(text []byte) bool {
	var s surroundings
	s.of(string(text))
	s.prepare(0, len(text))
	return e.needs.in(&s, 0, len(text)) && e.Match(text)
}

// around makes a confirmation. The expression is written in lower case and matches any; a space
// stands for any white space.
func around(text string) *confirmation {
	if text != strings.ToLower(text) {
		panic(fmt.Sprintf("inject: %q is not in lower case", text))
	}
	form := func(replacements ...string) func() *expression {
		return sync.OnceValue(func() *expression {
			return compile(strings.NewReplacer(replacements...).Replace(text))
		})
	}
	return &confirmation{
		plain:  form(" ", `\s`),
		leet:   form(" ", `\s`, "l", "i"),
		joined: form(" ?", "", " ", "", `\b`, "", "l", "i"),
	}
}

// matches reports whether what stands around the bytes from start to end of a view is as it must
// be.
func (c *confirmation) matches(v *view, near *surroundings, start, end int) bool {
	from, to := near.window(start, end)
	text := near.part(from, to)
	switch {
	case v.joined:
		return c.joined().matches(excerpt(text, true, true))
	case v.leet && c.leet().matches(excerpt(text, true, false)):
		return true
	}
	e := c.plain()
	if !e.needs.in(near, from, to) {
		return false
	}
	if !near.tight {
		text = excerpt(text, false, false)
	}
	return e.Match(text)
}

// excerpt returns the text with each run of white space as one, on demand with digits as letters
// and without spaces.
func excerpt(p []byte, leet, joined bool) []byte {
	out := make([]byte, 0, len(p))
	for _, b := range p {
		switch {
		case text.Is(b, text.Space):
			if n := len(out); n > 0 && text.Is(out[n-1], text.Space) {
				if b == '\n' {
					out[n-1] = b
				}
				continue
			}
		case leet:
			b = foldLeet(b)
		}
		if !joined || b != ' ' {
			out = append(out, b)
		}
	}
	return out
}
