package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// disguise is a way to hide a text from a scanner and not from a model.
type disguise struct {
	name  string
	apply func(string) string
}

var disguises = []disguise{
	{"upper case", strings.ToUpper},
	{"white space", func(s string) string { return strings.ReplaceAll(s, " ", " \n\t ") }},
	{"full width", letters(func(r rune) rune { return r - '!' + '！' })},
	{"mathematical bold", letters(mathematical)},
	{"confusables", strings.NewReplacer("a", "а", "e", "е", "o", "о", "p", "р", "c", "с", "i", "і", "y", "у", "x", "х", "s", "ѕ").Replace},
	{"accents", accents},
	{"zero width", between("\u200b")},
	{"soft hyphens", between("\u00ad")},
	{"variation selectors", between("\ufe0f")},
	{"tag characters", tags},
	{"percent", percent},
	{"percent, spaces only", url.PathEscape},
	{"HTML, decimal", eachRune(func(r rune) string { return fmt.Sprintf("&#%d;", r) })},
	{"HTML, hexadecimal", eachRune(func(r rune) string { return fmt.Sprintf("&#x%X;", r) })},
	{"escapes \\x", eachByte(`\x%02x`)},
	{"escapes \\u", eachRune(func(r rune) string { return fmt.Sprintf(`\u%04x`, r) })},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
	{"base64, URL alphabet", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
	{"base64, in lines", lines},
	{"base64, twice", twice},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
	{"hex, spaced", eachByte("%02x ")},
	{"rot13", rot13},
	{"leet", strings.NewReplacer("a", "4", "e", "3", "i", "1", "o", "0", "s", "5", "t", "7", "A", "4", "E", "3", "I", "1", "O", "0", "S", "5", "T", "7").Replace},
	{"leet, symbols", strings.NewReplacer("a", "@", "e", "3", "i", "!", "o", "0", "s", "$").Replace},
	{"spaced letters", spaced(" ", "  ")},
	{"spaced letters, no word ends", spaced(" ", " ")},
	{"dotted letters", spaced(".", " ")},
	{"dashed letters", spaced("-", " ")},
}

// letters calls f for visible ASCII characters.
func letters(f func(rune) rune) func(string) string {
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > ' ' && r <= '~' {
				return f(r)
			}
			return r
		}, s)
	}
}

func mathematical(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r - 'A' + '𝐀'
	case 'a' <= r && r <= 'z':
		return r - 'a' + '𝐚'
	}
	return r
}

func accents(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if strings.ContainsRune("aeiouAEIOU", r) {
			b.WriteRune('\u0301')
		}
	}
	return b.String()
}

// between puts mark between the letters of words.
func between(mark string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		last := ' '
		for _, r := range s {
			if unicode.IsLetter(r) && unicode.IsLetter(last) {
				b.WriteString(mark)
			}
			b.WriteRune(r)
			last = r
		}
		return b.String()
	}
}

func tags(s string) string {
	return "A friendly note." + strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return 0xe0000 + r
		}
		return r
	}, s)
}

func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func eachByte(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
}

func eachRune(f func(rune) string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteString(f(r))
		}
		return b.String()
	}
}

func lines(s string) string {
	code := base64.StdEncoding.EncodeToString([]byte(s))
	var b strings.Builder
	for len(code) > 76 {
		b.WriteString(code[:76] + "\n")
		code = code[76:]
	}
	return b.String() + code
}

func twice(s string) string {
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case 'A' <= r && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

// spaced puts inner between all letters and outer for white space.
func spaced(inner, outer string) func(string) string {
	return func(s string) string {
		var words []string
		for word := range strings.FieldsSeq(s) {
			words = append(words, strings.Join(strings.Split(word, ""), inner))
		}
		return strings.Join(words, outer)
	}
}
