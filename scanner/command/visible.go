package command

import "unicode"

// Visible reports whether people see a character of a command line, and see it as one of its own: no
// control character, no blank but the plain one, no change of direction, and none of the letters, marks and
// symbols that are printable by their category but have no look.
func Visible(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
