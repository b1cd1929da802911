// Package masked says whether somebody who is shown a value with its secrets masked has seen all that it
// means: to a shell, or to whatever reads a request.
//
//	masked.SameSigns(arguments, shown)
//	masked.OnlyWords(arguments, shown)
//
// It is pure and safe for concurrent use.
package masked

import "strings"

// SameSigns reports whether two values of JSON have the same strings but for characters that stand for
// themselves in a shell. The marker that takes the place of a secret is made of such ones.
func SameSigns(was, shown any) bool { return same(was, shown, "_-+./:,@%=") }

// OnlyWords reports whether two values of JSON have the same strings but for letters, digits, - and _: what is
// masked is a word of one value, in whatever form the text is, and never a separator.
func OnlyWords(was, shown any) bool { return same(was, shown, "_-") }

// same compares values but for letters, digits, and the signs that are plain.
func same(was, shown any, plain string) bool {
	switch was := was.(type) {
	case string:
		s, ok := shown.(string)
		return ok && signs(was, plain) == signs(s, plain)
	case []any:
		s, ok := shown.([]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for i := range was {
			if !same(was[i], s[i], plain) {
				return false
			}
		}
	case map[string]any:
		s, ok := shown.(map[string]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for name, v := range was {
			if !same(v, s[name], plain) {
				return false
			}
		}
	}
	return true
}

// signs are the characters of a text that may mean something, in their order.
func signs(text, plain string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(plain, r):
			return -1
		}
		return r
	}, text)
}
