// Package suggest finds what somebody most likely meant by a name that does not exist.
//
//	suggest.Nearest("tokn", []string{"none", "token"}) // "token"
//
// A name is near when at most half of its letters differ. Of two that are equally near, the one of
// the same length is meant: letters are often exchanged. The functions are pure and safe for
// concurrent use.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the known name that is most like name, or "" when none is close.
func Nearest(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(k))
		if d < distance || d == distance && best != "" && len(best) != len(name) && len(k) == len(name) {
			best, distance = k, d
		}
	}
	return best
}

// DidYouMean returns the end of a sentence that asks for the nearest known name, or "" when
// none is close.
func DidYouMean(name string, known []string) string {
	if n := Nearest(name, known); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}
