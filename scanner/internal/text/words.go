package text

import "strings"

// Set is a fixed set of lower-case words.
type Set map[string]struct{}

// maxWord is the longest word of which HasFold knows the lower case, in bytes.
const maxWord = 40

// Words returns the set of the words of a list, which white space separates.
func Words(list string) Set {
	s := make(Set)
	for _, word := range strings.Fields(list) {
		s[word] = struct{}{}
	}
	return s
}

// Lists reports whether a word is in a list whose words white space separates. It costs no more than looking
// through the list, where [Words] makes a set of it first.
func Lists(list, word string) bool {
	if word == "" || strings.ContainsAny(word, " \t\r\n\v\f") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(list[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || list[start-1] <= ' ') && (end == len(list) || list[end] <= ' ') {
			return true
		}
		from = end
	}
}

// Has reports whether p is in the set.
func (s Set) Has(p []byte) bool {
	_, ok := s[string(p)]
	return ok && len(p) > 0
}

// HasFold reports whether p, at most 40 bytes of ASCII in any case, is in the set.
func (s Set) HasFold(p []byte) bool {
	var room [maxWord]byte
	if len(p) > len(room) {
		return false
	}
	for i, b := range p {
		room[i] = Lower(b)
	}
	return s.Has(room[:len(p)])
}

// HasString reports whether the word is in the set.
func (s Set) HasString(word string) bool {
	_, ok := s[word]
	return ok
}

// HasFoldString reports whether the word, in any case, is in the set.
func (s Set) HasFoldString(word string) bool {
	return len(word) <= 4*maxWord && s.HasString(strings.ToLower(word)) // a letter may have fewer bytes in lower case
}
