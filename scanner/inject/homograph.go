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
func scanHomographs(found []scanner.Finding, s string) []scanner.Finding {
	for i := 0; i < len(s); {
		start, ascii := i, true
		for i < len(s) {
			b := s[i]
			if b < utf8.RuneSelf {
				if !text.Is(b, text.Letter|text.Digit) && b != '-' && b != '.' {
					break
				}
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
				break
			}
			ascii = false
			i += size
		}
		if i == start {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		name := s[start:i]
		if ascii && !text.HasPrefixFold(name, "xn--") && !text.ContainsFold(name, ".xn--") {
			continue
		}
		url := strings.HasSuffix(s[:start], "://")
		name = strings.TrimLeft(name, ".-")
		start = i - len(name)
		if name = strings.TrimRight(name, ".-"); !url && !strings.Contains(name, ".") {
			continue
		}
		if rule, confidence := judgeDomain(name); rule != "" {
			found = append(found, scanner.Finding{Category: scanner.URLHomograph, Rule: rule, Confidence: confidence, Start: start, End: start + len(name), View: scanner.ViewText})
		}
		if len(found) >= maxFindings {
			return found
		}
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
