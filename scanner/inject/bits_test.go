package inject

import "testing"

func TestNumbers(t *testing.T) {
	var odd, even, none numbers
	for n := range 64 * setWords {
		if n%2 == 1 {
			odd.add(n)
		} else {
			even.add(n)
		}
	}
	for n := range 64 * setWords {
		var one numbers
		one.add(n)
		if got, want := one.meets(&odd), n%2 == 1; got != want || odd.has(n) != want {
			t.Errorf("%d is odd: got %v and %v, want %v", n, got, odd.has(n), want)
		}
		if one.meets(&none) || none.has(n) {
			t.Errorf("%d is in the empty set", n)
		}
	}
	if odd.meets(&even) {
		t.Error("a number is odd and even")
	}
	odd.unite(&even)
	for n := range 64 * setWords {
		if !odd.has(n) {
			t.Errorf("%d is in neither", n)
		}
	}
}
