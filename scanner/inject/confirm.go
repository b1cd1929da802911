package inject

import (
	"fmt"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// confirmation is an expression that the text around the words of a threat must match, in the
// forms that the views need.
type confirmation struct {
	plain, leet, joined func() *expression
}

// around makes a confirmation. The expression is written in lower case and matches any; a space
// stands for any white space.
func around(source string) *confirmation {
	if source != strings.ToLower(source) {
		panic(fmt.Sprintf("inject: %q is not in lower case", source))
	}
	form := func(fold folding, joined bool, replacements ...string) func() *expression {
		return sync.OnceValue(func() *expression {
			return newExpression(strings.NewReplacer(replacements...).Replace(source), fold, joined)
		})
	}
	return &confirmation{
		plain:  form(text.Lower, false, " ", `\s`),
		leet:   form(foldLeet, false, " ", `\s`, "l", "i"),
		joined: form(foldLeet, true, " ?", "", " ", "", `\b`, "", "l", "i"),
	}
}

// How far a confirmation sees, in bytes, where a run of white space counts as one.
const (
	seesBefore = 100
	seesAfter  = 200
)

// matches reports whether what stands around a threat in a view is as it must be. The watch is that of
// the confirmation for the view.
func (c *confirmation) matches(v *view, around span, w *watch) bool {
	switch part := v.text[around.start:around.end]; {
	case v.joined:
		return c.joined().matches(part)
	case v.leet && c.leet().matches(part):
		return true
	}
	return w.matches(c.plain(), v.text, around)
}

// before returns the place from which a confirmation sees the text before start: what [ruler.seesFrom]
// returns, without planes.
func before(s string, start int) int {
	blank := start < len(s) && text.Is(s[start], text.Space)
	for n := 0; start > 0 && n < seesBefore; start-- {
		was := blank
		if blank = text.Is(s[start-1], text.Space); !blank || !was {
			n++
		}
	}
	return start
}
