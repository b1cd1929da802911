// Package suggest finds what somebody most likely meant by a name that does not exist.
//
//	suggest.Nearest("tokn", []string{"none", "token"}) // "token"
//
// A name is near when it becomes the other one by changing at most half of its letters. The
// functions are pure and safe for concurrent use.
package suggest

import "strings"

// Nearest returns the known name that is most like name, or "" when none is close.
func Nearest(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		if d := Distance(strings.ToLower(name), strings.ToLower(k)); d < distance {
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

// Distance returns how many letters have to be inserted, deleted, replaced or exchanged with the
// next one to make b of a, where no letter is touched twice (optimal string alignment).
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	// rows[i%3][j] is the distance of the first i letters of a and the first j of b.
	var rows [3][]int
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
	}
	for i := range len(from) + 1 {
		row, last, before := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		for j := range row {
			switch {
			case i == 0 || j == 0:
				row[j] = i + j
				continue
			case from[i-1] == to[j-1]:
				row[j] = last[j-1]
				continue
			}
			row[j] = 1 + min(last[j], row[j-1], last[j-1])
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], 1+before[j-2])
			}
		}
	}
	return rows[len(from)%3][len(to)]
}
