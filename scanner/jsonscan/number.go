package jsonscan

import "github.com/svc-gateway/svc/scanner/internal/text"

// NumberLength returns the length of the JSON number that p begins with, -1 if there is none.
func NumberLength(p []byte) int {
	n := 0
	if len(p) > 0 && p[0] == '-' {
		n++
	}
	whole := Digits(p[n:])
	if whole == 0 || whole > 1 && p[n] == '0' {
		return -1
	}
	n += whole
	if n < len(p) && p[n] == '.' {
		fraction := Digits(p[n+1:])
		if fraction == 0 {
			return -1
		}
		n += 1 + fraction
	}
	if n < len(p) && (p[n] == 'e' || p[n] == 'E') {
		if n++; n < len(p) && (p[n] == '+' || p[n] == '-') {
			n++
		}
		exponent := Digits(p[n:])
		if exponent == 0 {
			return -1
		}
		n += exponent
	}
	return n
}

// Digits returns the number of digits that p begins with.
func Digits(p []byte) int {
	n := 0
	for n < len(p) && text.Is(p[n], text.Digit) {
		n++
	}
	return n
}

// StringLength returns the length of the string that p begins with, its quotes included.
func StringLength(p []byte) int {
	for i := 1; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(p)
}
