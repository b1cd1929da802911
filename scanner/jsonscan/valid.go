package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// deepest is how deep a document may be that [encoding/json] takes.
const deepest = 10_000

// Valid is [encoding/json.Valid], several times as fast where strings are long.
func Valid(doc []byte) bool {
	r := stringReader{rest: doc, deepest: deepest, visit: validString}
	return r.document()
}

// validString reports whether the inside of a string has no control character, and only escapes that
// there are.
func validString(inside []byte, _ bool) bool {
	for {
		n := PlainLength(inside)
		if n == len(inside) {
			return true
		}
		size := escapeLength(inside[n:])
		if size == 0 {
			return false
		}
		inside = inside[n+size:]
	}
}

// escapeLength returns the length of the escape that p begins with, 0 if that is none. That of half a
// pair of surrogates is one by itself.
func escapeLength(p []byte) int {
	if len(p) < 2 || p[0] != '\\' {
		return 0
	}
	switch p[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(p[2:]); ok && len(p) >= 6 {
			return 6
		}
	}
	return 0
}

// PlainLength returns how many bytes of the inside of a string p begins with that stand for themselves: up
// to its end, an escape, or what may not stand in one.
func PlainLength(p []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(p); n += 8 { // eight at a time: Warren, Hacker's Delight, 6-1
		x := binary.LittleEndian.Uint64(p[n:])
		quote, escape := x^low*'"', x^low*'\\'
		found := (x - low*' ') &^ x
		found |= (quote - low) &^ quote
		found |= (escape - low) &^ escape
		if found &= high; found != 0 {
			return n + bits.TrailingZeros64(found)/8 // a borrow goes to higher bytes only: the first is right
		}
	}
	for n < len(p) && p[n] >= ' ' && p[n] != '"' && p[n] != '\\' {
		n++
	}
	return n
}
