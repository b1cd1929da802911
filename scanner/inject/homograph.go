package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// scanHomographs finds domain names that may look like others. A label with letters of two
// scripts, or all of whose Cyrillic or Greek letters look like Latin ones, is of high
// confidence; punycode, and labels of different scripts in one domain, are of low confidence,
// because there are honest ones.
func scanHomographs(found []scanner.Finding, s string, bytes *planes, wide spans) []scanner.Finding {
	done := 0
	_, puny := nextPunycode(s, 0)
	for i, p := range wide {
		p = p.in(s)
		found = punyNames(found, s, done, p.start)
		if found, done = wideNames(found, s, bytes, puny, max(done, p.start), p.end); i == maxFindings || len(found) >= maxFindings {
			return found
		}
	}
	return punyNames(found, s, done, len(s))
}

// punyNames judges the names in punycode that begin between two places.
func punyNames(found []scanner.Finding, s string, from, to int) []scanner.Finding {
	for len(found) < maxFindings && from < to {
		i, ok := nextPunycode(s[:to], from)
		if !ok {
			break
		}
		start, end := nameAround(s, from, i)
		found, from = judgeName(found, s, start, end), end
	}
	return found
}

// wideNames judges the names with bytes beyond ASCII between two places, and returns the end of the
// last; puny says that there may be names in punycode as well.
func wideNames(found []scanner.Finding, s string, bytes *planes, puny bool, from, to int) (all []scanner.Finding, end int) {
	unsure := from // what stands before may hold names
	for i := from; i < to && len(found) < maxFindings; {
		if !puny {
			if i = bytes.next(wides, i); i >= to {
				break
			}
			if i >= unsure {
				end, none := noName(s, from, i)
				if unsure = end; none {
					i, from = end, end
					continue
				}
			}
		} else if s[i] < utf8.RuneSelf && !text.HasPrefixFold(s[i:], "xn--") {
			i++
			continue
		}
		start, end := nameAround(s, from, i)
		if end == i { // a character that is of no name
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			from = i
			continue
		}
		found = judgeName(found, s, start, end)
		i, from = end, end
	}
	return found, max(from, to)
}

// noName returns where the letters and the like around the byte at i end, and whether they are certainly no
// name of a host, because they have no dot and do not follow "://". They begin not before from.
func noName(s string, from, i int) (end int, none bool) {
	ofName := func(b byte) bool { return b >= utf8.RuneSelf || inWord[b] || b == '-' }
	for end = i; end < len(s) && ofName(s[end]); end++ {
	}
	for i > from && ofName(s[i-1]) {
		i--
	}
	return end, (end == len(s) || s[end] != '.') && (i == 0 || s[i-1] != '.' && s[i-1] != '/')
}

// nameAround returns where the name with the character at i begins, not before from, and ends.
func nameAround(s string, from, i int) (start, end int) {
	for start = i; start > from; {
		r, size := utf8.DecodeLastRuneInString(s[from:start])
		if !ofName(r) {
			break
		}
		start -= size
	}
	for end = i; end < len(s); {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !ofName(r) {
			break
		}
		end += size
	}
	return start, end
}

// ofName reports whether domain names have the character.
func ofName(r rune) bool {
	if r < utf8.RuneSelf {
		return text.Is(byte(r), text.Letter|text.Digit) || r == '-' || r == '.'
	}
	return glyphOf(r).kind&(isLetter|isMark|isDigit) != 0
}

// judgeName adds a finding if the name at a place may look like another.
func judgeName(found []scanner.Finding, s string, start, end int) []scanner.Finding {
	name := s[start:end]
	url := strings.HasSuffix(s[:start], "://")
	name = strings.TrimLeft(name, ".-")
	start = end - len(name)
	if name = strings.TrimRight(name, ".-"); !url && strings.IndexByte(name, '.') < 0 {
		return found
	}
	if rule, confidence := judgeDomain(name); rule != "" {
		found = append(found, scanner.Finding{Category: scanner.URLHomograph, Rule: rule, Confidence: confidence, Start: start, End: start + len(name), View: scanner.ViewText})
	}
	return found
}

// scripts of letters.
const (
	latin = 1 << iota
	cyrillic
	greek
)

// likeLatin are the Cyrillic and Greek letters that look like Latin ones.
const likeLatin = "асеорхуіјѕһԁԛԝӏвкмнтгАВСЕНІЈКМОРЅТХУ" + "αορνικυτεγχωηρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"

// judgeDomain names the rule that a domain breaks, if any. Punycode is judged by what it shows.
func judgeDomain(domain string) (rule string, confidence scanner.Confidence) {
	all, puny, lookalike := 0, false, false
	labels := strings.Split(domain, ".")
	for n, label := range labels {
		if strings.EqualFold(label, "www") {
			continue
		}
		if len(label) > 4 && strings.EqualFold(label[:4], "xn--") {
			puny = true
			if shown, err := idna.Punycode.ToUnicode(strings.ToLower(label)); err == nil {
				label = shown
			}
		}
		for part := range strings.SplitSeq(label, "-") {
			scripts, alike := scriptsOf(part)
			if scripts&latin != 0 && scripts&(cyrillic|greek) != 0 {
				return "mixed_scripts", scanner.High
			}
			lookalike = lookalike || alike && n < len(labels)-1
			all |= scripts
		}
	}
	top := labels[len(labels)-1]
	switch {
	case lookalike && all&latin != 0:
		return "lookalike", scanner.High
	case puny:
		return "punycode", scanner.Low
	case all&latin != 0 && all&(cyrillic|greek) != 0 && strings.IndexFunc(top, unicode.IsDigit) < 0:
		return "mixed_scripts", scanner.Low
	}
	return "", ""
}

// scriptsOf returns the scripts of the letters, and whether all those that are not Latin, three
// or more, look as if they were.
func scriptsOf(label string) (scripts int, alike bool) {
	n := 0
	for _, r := range label {
		switch {
		case unicode.Is(unicode.Latin, r):
			scripts |= latin
			continue
		case unicode.Is(unicode.Cyrillic, r):
			scripts |= cyrillic
		case unicode.Is(unicode.Greek, r):
			scripts |= greek
		default:
			continue
		}
		if !strings.ContainsRune(likeLatin, r) {
			return scripts, false
		}
		n++
	}
	return scripts, n > 2
}
