package inject

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// expressions are all that the threats ask for, in the forms that views need.
func expressions() (list []*expression) {
	for _, t := range threats {
		for _, c := range []*confirmation{t.confirm, t.unless} {
			if c != nil {
				list = append(list, c.plain(), c.leet(), c.joined())
			}
		}
	}
	return append(list, unseenTag)
}

// FuzzExpression holds the automaton against package regexp.
func FuzzExpression(f *testing.F) {
	for _, t := range threats {
		for _, text := range append(t.examples, t.counters...) {
			f.Add(text)
		}
	}
	f.Add("İ \u212a ſ \xff\n\n  <a style='display : none'>")
	list := expressions()
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range list {
			if got, want := e.matches(text), e.slow().MatchString(e.folded(text)); got != want {
				t.Fatalf("%q in %q: got %v, want %v", e.source, text, got, want)
			}
		}
	})
}

// An expression that a text leads to more states than it may have goes on with package regexp.
func TestExpressionWithManyStates(t *testing.T) {
	e := newExpression(`(?:a|b)*a(?:a|b){14}c`, foldCase, false)
	text := []byte(strings.Repeat("a", 1<<15))
	seed := uint32(1)
	for i := range text {
		if seed = seed*1664525 + 1013904223; seed>>16&1 == 0 {
			text[i] = 'b'
		}
	}
	if e.matches(string(text)) {
		t.Error("got a match without c")
	}
	if len(e.states) > maxStates {
		t.Errorf("got %d states, want at most %d", len(e.states), maxStates)
	}
	if text[len(text)-15] = 'a'; !e.matches(string(text) + "c") {
		t.Error("got no match, want one at the end")
	}
}

// Many goroutines make the states of one expression.
func TestExpressionConcurrently(t *testing.T) {
	e := newExpression(`\b(?:one|two)\b[^.]{0,20}three$`, foldCase, false)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 15 {
				filler := strings.Repeat("x", n)
				if e.matches("one. "+filler+" three") || !e.matches(strings.Repeat("y ", i)+"two "+filler+" three") {
					t.Error("a match is wrong")
				}
			}
		})
	}
	wg.Wait()
}

// A watch says of each part of a text what the expression says of the part alone, if no word is cut and
// the part does not begin what only the beginning of a text does.
func FuzzWatch(f *testing.F) {
	for _, t := range threats {
		f.Add(strings.Join(append(t.examples, t.counters...), " "), uint64(1))
	}
	list := expressions()
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		var ends []int
		for i := range len(text) - 1 {
			if text[i] == ' ' && text[i+1] > ' ' && text[i+1] < utf8.RuneSelf {
				ends = append(ends, i+1)
			}
		}
		if len(ends) < 2 {
			return
		}
		for _, e := range list {
			if strings.Contains(e.source, "^|") {
				continue
			}
			var w watch
			for range 20 {
				a, b := ends[r.IntN(len(ends))], ends[r.IntN(len(ends))]
				p := span{min(a, b), max(a, b)}
				if got, want := w.matches(e, text, p), e.matches(text[p.start:p.end]); got != want {
					t.Fatalf("%q in %q: got %v, want %v", e.source, text[p.start:p.end], got, want)
				}
			}
		}
	})
}
