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
	"encoding/json"
	"maps"
	"reflect"
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

// Plain reports whether redact, which made shown of was, masks nothing because a list or an object that holds
// it has a name such as password: that would be several words, and names, none of which anybody has to mean
// as a credential.
func Plain(was, shown any, redact func(doc []byte) []byte) bool {
	if reflect.DeepEqual(was, shown) {
		return true
	}
	doc, err := json.Marshal(unnamed(was))
	if err != nil {
		return false
	}
	var bare any
	return json.Unmarshal(redact(doc), &bare) == nil && reflect.DeepEqual(bare, unnamed(shown))
}

// unnamed is a value of JSON in which lists and objects have names that mean nothing. A redactor masks in it
// what is a secret by itself or by its own name, and not all that somebody put below a name such as
// password. Values with the same names have the same ones afterwards.
func unnamed(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = unnamed(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for i, name := range slices.Sorted(maps.Keys(v)) {
			switch v[name].(type) {
			case []any, map[string]any:
				object["\x00"+strconv.Itoa(i)] = unnamed(v[name])
			default:
				object["\x00 "+name] = unnamed(v[name])
			}
		}
		return object
	case string:
		if v, ok := document(v); ok {
			if doc, err := json.Marshal(unnamed(v)); err == nil {
				return string(doc)
			}
		}
	}
	return v
}

func join(name, rest string) string { return strings.TrimSuffix(name+"."+rest, ".") }

// same compares values but for letters, digits, and the signs that are plain.
func same(was, shown any, plain string) bool {
	switch was := was.(type) {
	case string:
		s, ok := shown.(string)
		if !ok || signs(was, plain) != signs(s, plain) {
			return false
		}
		if v, ok := document(was); ok {
			shown, ok := document(s)
			return ok && same(v, shown, plain)
		}
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
	default:
		return was == shown // a number that is masked is 0, and nobody sees that it is masked
	}
	return true
}

// document is the JSON that a string holds, if that is a list or an object.
func document(s string) (v any, ok bool) {
	if t := strings.TrimLeft(s, " \t\r\n"); t == "" || t[0] != '{' && t[0] != '[' {
		return nil, false
	}
	return v, json.Unmarshal([]byte(s), &v) == nil
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
