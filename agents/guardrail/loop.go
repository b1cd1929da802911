package guardrail

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A text runs in circles when its end is a piece of it again and again.
const (
	loopTail  = 16 << 10 // bytes of the end that are looked at
	loopTimes = 6        // the least number of times
	loopBytes = 160      // that are the same piece, at least
)

// loop says what a text repeats at its end; empty: nothing.
func loop(text string) string {
	tail := text[max(0, len(text)-loopTail):]
	// In the reversed text a loop at the end is one at the beginning: its shortest period is the length
	// less the longest border (Knuth, Morris and Pratt).
	n := len(tail)
	at := func(i int) byte { return tail[n-1-i] }
	border := make([]int, n)
	longest, period := 0, 0
	for i := 1; i < n; i++ {
		k := border[i-1]
		for k > 0 && at(i) != at(k) {
			k = border[k-1]
		}
		if at(i) == at(k) {
			k++
		}
		border[i] = k
		if p := i + 1 - k; (i+1)/p >= loopTimes && i+1 >= loopBytes {
			longest, period = i+1, p
		}
	}
	if longest == 0 {
		return ""
	}
	piece := tail[n-period:]
	if !strings.ContainsFunc(piece, unicode.IsLetter) { // lines, tables of zeros
		return ""
	}
	return fmt.Sprintf("the answer ends with the same %d characters %d times", utf8.RuneCountInString(piece), longest/period)
}
