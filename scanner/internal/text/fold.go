package text

// Lower returns the lower case of a letter of ASCII, and any other byte as it is.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// ContainsFold reports whether p contains the lower-case word in any case.
func ContainsFold[T string | []byte](p T, word string) bool {
	for ; len(p) >= len(word); p = p[1:] {
		if HasPrefixFold(p, word) {
			return true
		}
	}
	return false
}

// HasPrefixFold reports whether p begins with the lower-case word in any case.
func HasPrefixFold[T string | []byte](p T, word string) bool {
	if len(p) < len(word) {
		return false
	}
	for i := range len(word) {
		if Lower(p[i]) != word[i] {
			return false
		}
	}
	return true
}

// Rot13 moves each letter of ASCII by 13.
func Rot13(s string) string { return string(AppendRot13(nil, s)) }

// AppendRot13 appends the text with each letter of ASCII moved by 13.
func AppendRot13(dst []byte, s string) []byte {
	n := len(dst)
	dst = append(dst, s...)
	for i, b := range dst[n:] {
		switch lower := b | 0x20; {
		case 'a' <= lower && lower <= 'm':
			dst[n+i] += 13
		case 'n' <= lower && lower <= 'z':
			dst[n+i] -= 13
		}
	}
	return dst
}
