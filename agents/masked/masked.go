// Package masked says whether somebody who is shown a value with its secrets masked has seen all that it
// means: to a shell, or to whatever reads a request.
//
//	masked.SameSigns(arguments, shown)
//	masked.OnlyWords(arguments, shown)
//	masked.Where(arguments, shown, masked.OnlyWords) // such as headers.cookie
//
// Names are not masked: a value whose name is another one is not the same.
//
// It is pure and safe for concurrent use.
package masked

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SameSigns reports whether two values of JSON have the same strings but for characters that stand for
// themselves in a shell. The marker that takes the place of a secret is made of such ones.
func SameSigns(was, shown any) bool { return same(was, shown, "_-+./:,@%=") }

// OnlyWords reports whether two values of JSON have the same strings but for letters, digits, - and _: what is
// masked is a word of one value, in whatever form the text is, and never a separator.
func OnlyWords(was, shown any) bool { return same(was, shown, "_-") }

// Where is the path of the first value, by name, that two values of JSON do not have the same; empty when
// that is the whole, or nothing. A name that is masked is not told: it is that of the value around it.
func Where(was, shown any, same func(was, shown any) bool) string {
	switch was := was.(type) {
	case []any:
		s, _ := shown.([]any)
		for i := range min(len(was), len(s)) {
			if !same(was[i], s[i]) {
				return join(strconv.Itoa(i), Where(was[i], s[i], same))
			}
		}
	case map[string]any:
		s, _ := shown.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if shown, there := s[name]; there && !same(was[name], shown) {
				return join(name, Where(was[name], shown, same))
			}
		}
	}
	return ""
}

// Unnamed is a value of JSON in which lists and objects have names that mean nothing. A redactor masks in it
// what is a secret by itself or by its own name, and not all that somebody put below a name such as
// password. Values with the same names have the same ones afterwards.
func Unnamed(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = Unnamed(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for i, name := range slices.Sorted(maps.Keys(v)) {
			switch v[name].(type) {
			case []any, map[string]any:
				object["\x00"+strconv.Itoa(i)] = Unnamed(v[name])
			default:
				object[name] = v[name]
			}
		}
		return object
	}
	return v
}

func join(name, rest string) string { return strings.TrimSuffix(name+"."+rest, ".") }

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
			if shown, there := s[name]; !there || !same(v, shown, plain) {
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
