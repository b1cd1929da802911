package scanner

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// How far a confirmation sees, in bytes, where a run of white space counts as one.
const (
	seesBefore = 100
	seesAfter  = 200
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
	return e.needs.in(strings.ToLower(text)) && e.MatchString(text)
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
func (c *confirmation) matches(v *view, start, end int) bool {
	switch text := excerpt(v, start, end); {
	case v.joined:
		return c.joined().matches(text)
	case v.leet:
		return c.leet().matches(text) || c.plain().matches(excerpt(&view{text: v.text}, start, end))
	default:
		return c.plain().matches(text)
	}
}

// excerpt returns the text around the bytes from start to end, with digits as letters and without
// white space where the view asks for it.
func excerpt(v *view, start, end int) string {
	blank := func(i int) bool { return is(v.text[i], space) }
	for n := 0; start > 0 && n < seesBefore; start-- {
		if !blank(start-1) || !blank(start) {
			n++
		}
	}
	for n := 0; end < len(v.text) && n < seesAfter; end++ {
		if !blank(end) || !blank(end-1) {
			n++
		}
	}
	out := make([]byte, 0, end-start)
	for i := start; i < end; i++ {
		b := v.text[i]
		switch {
		case blank(i):
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
