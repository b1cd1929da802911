package inject

import "github.com/svc-gateway/svc/scanner/internal/text"

// folding says which bytes an automaton takes for the same.
type folding func(b byte) byte

// foldCase ignores the case of ASCII letters, and what kind of gap is between words.
func foldCase(b byte) byte {
	if text.Is(b, text.Space) || b == '_' || b == '-' {
		return ' '
	}
	return text.Lower(b)
}

// foldLeet also ignores that digits and symbols stand for letters. Letters that share a digit
// become one: 1 is i as well as l.
func foldLeet(b byte) byte {
	switch b = foldCase(b); b {
	case '1', '!', '|', 'l':
		return 'i'
	case '0':
		return 'o'
	case '3':
		return 'e'
	case '4', '@':
		return 'a'
	case '5', '$':
		return 's'
	case '7', '+':
		return 't'
	case '8':
		return 'b'
	case '9', '6':
		return 'g'
	}
	return b
}

// leetBytes is foldLeet as a table.
var leetBytes = func() (t [256]byte) {
	for b := range t {
		t[b] = foldLeet(byte(b))
	}
	return t
}()
