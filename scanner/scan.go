package scanner

import "regexp"

var literal = regexp.MustCompile(`(?i)ignore (all |any )?(previous |prior |the )?instructions|you are now|disregard|grant me admin|act as root`)

// Scan returns what looks like an injection in the text, nil when it is clean.
func Scan(text string) []Finding {
	var found []Finding
	for _, m := range literal.FindAllStringIndex(text, -1) {
		found = append(found, Finding{RoleHijacking, "phrase", Low, m[0], m[1], text[m[0]:m[1]], ViewText})
	}
	return found
}
