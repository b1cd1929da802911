// Package masked says whether somebody who is shown a value with its secrets masked has seen all that it
// means to a shell.
//
//	masked.SameSigns(arguments, shown)
//
// It is pure and safe for concurrent use.
package masked

import "strings"

// SameSigns reports whether two values of JSON have the same strings but for characters that stand for
// themselves in a shell. The marker that takes the place of a secret is made of such ones.
func SameSigns(was, shown any) bool {
	switch was := was.(type) {
	case string:
		s, ok := shown.(string)
		return ok && signs(was) == signs(s)
	case []any:
		s, ok := shown.([]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for i := range was {
			if !SameSigns(was[i], s[i]) {
				return false
			}
		}
	case map[string]any:
		s, ok := shown.(map[string]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for name, v := range was {
			if !SameSigns(v, s[name]) {
				return false
			}
		}
	}
	return true
}

// signs are the characters of a text that may mean something to a shell, in their order.
func signs(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-+./:,@%=", r):
			return -1
		}
		return r
	}, text)
}
