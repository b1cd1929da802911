package policy

import (
	"sync"
	"testing"
)

func TestLive(t *testing.T) {
	engine := func(name string) *Engine {
		return withRules(t, "- {name: "+name+", effect: log, message: m}")
	}
	first, second, third, fourth := engine("a"), engine("b"), engine("c"), engine("d")
	l := NewLive(first)
	old := l.Hold("")
	l.Apply(second, false)
	newer := l.Hold("")
	expect := func(what string, got, want *Engine) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got.Hash()[:8], want.Hash()[:8])
		}
	}
	expect("begun before", old.Engine(), first)
	expect("begun after", newer.Engine(), second)
	expect("waited meanwhile", l.Hold(first.Hash()).Engine(), first)
	expect("of a policy that nobody knows", l.Hold("x").Engine(), second)
	l.Apply(third, true)
	expect("begun before, replaced at once", old.Engine(), third)
	expect("waited meanwhile, replaced at once", l.Hold(first.Hash()).Engine(), third)
	l.Apply(fourth, false)
	expect("replaced at once before", newer.Engine(), third)
	expect("what counts", l.Engine(), fourth)
	expect("waited with what was applied at once", l.Hold(third.Hash()).Engine(), third)
	if d := (&Live{}).Hold("").Engine().Decide(Input{}); d.Effect != Deny {
		t.Errorf("no policy: got %+v", d)
	}
}

func TestLiveIsSafeForConcurrentUse(t *testing.T) {
	l := NewLive(withRules(t, ""))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			h := l.Hold("")
			for range 100 {
				l.Apply(h.Engine(), i == 0)
				l.Hold(l.Engine().Hash()).Engine().Decide(Input{})
			}
		})
	}
	all.Wait()
}
