package scanner

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
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
	e := &expression{Regexp: regexp.MustCompile(`(?i)` + text)}
	if tree, err := syntax.Parse(text, syntax.Perl|syntax.FoldCase); err == nil {
		e.needs = requiredBy(tree)
	}
	return e
}

// matches reports whether the text has a match.
func (e *expression) matches(text string) bool {
	var s surroundings
	s.of(text)
	s.prepare(0, len(text))
	return e.needs.in(&s, 0, len(text)) && e.MatchString(text)
}

// around makes a confirmation. In the expression a space stands for any white space, and case
// does not matter.
func around(text string) *confirmation {
	form := func(replacements ...string) func() *expression {
		return sync.OnceValue(func() *expression {
			return compile(strings.NewReplacer(replacements...).Replace(text))
		})
	}
	return &confirmation{
		plain:  form(" ", `\s`),
		leet:   form(" ", `\s`, "l", "i", "L", "i"),
		joined: form(" ?", "", " ", "", `\b`, "", "l", "i", "L", "i"),
	}
}

// matches reports whether what stands around the bytes from start to end of a view is as it must
// be.
func (c *confirmation) matches(v *view, near *surroundings, start, end int) bool {
	from, to := near.window(start, end)
	switch {
	case v.joined:
		return c.joined().matches(excerpt(v, from, to))
	case v.leet && c.leet().matches(excerpt(v, from, to)):
		return true
	}
	e := c.plain()
	if !e.needs.in(near, from, to) {
		return false
	}
	if near.tight {
		return e.MatchString(v.text[from:to])
	}
	return e.MatchString(excerpt(&view{text: v.text}, from, to))
}

// excerpt returns the bytes from start to end of a view, each run of white space as one, with
// digits as letters and without white space where the view asks for it.
func excerpt(v *view, start, end int) string {
	out := make([]byte, 0, end-start)
	for i := start; i < end; i++ {
		b := v.text[i]
		switch {
		case is(b, space):
			if n := len(out); n > 0 && is(out[n-1], space) {
				if b == '\n' {
					out[n-1] = b
				}
				continue
			}
		case v.joined || v.leet:
			b = foldLeet(b)
		}
		if !v.joined || b != ' ' {
			out = append(out, b)
		}
	}
	return string(out)
}
