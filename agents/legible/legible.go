// Package legible says whether people who are shown a call with its secrets hidden see all that it does. Whoever
// wrote a command chose the words by which secrets are found, and may have hidden a part of it behind them. Nothing
// in it has state.
package legible

import "strings"

// Same reports whether two values of JSON have the same strings but for characters that stand for
// themselves in a shell. The marker that takes the place of a secret is made of such ones.
func Same(was, shown any) bool {
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
			if !Same(was[i], s[i]) {
				return false
			}
		}
	case map[string]any:
		s, ok := shown.(map[string]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for name, v := range was {
			if !Same(v, s[name]) {
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
