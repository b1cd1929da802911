package inject

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// farDenial is how far before a threat a sentence may deny it, in bytes.
const farDenial = 80

// denies reports whether "do not" stands before the first word of a threat: right before, with how
// firm it is between ("do not, under any circumstances, share"), or before others that mean the same
// and of which it is one ("never share, print or repeat"). To refuse to is the same, unless that is
// not to be done.
func (a *attempt) denies() bool {
	text, slot := a.view.text, &a.slots[0]
	at := a.placed[0]
	start := a.words[at].start
	for k := at - 1; k >= max(0, at-reach) && a.words[k].end > start-farDenial; k-- {
		w := &a.words[k]
		if w.end > start {
			continue
		}
		switch between := strings.TrimSpace(text[w.end:start]); {
		case w.means.meets(&notWords) && isFirm(between):
			return true
		case w.means.meets(&refuseWords) && between == "to":
			return !a.deniesWord(k)
		case w.means.meets(slot) && isOr(between):
			start = w.start
		}
	}
	return false
}

// deniesWord reports whether "do not" stands right before word i.
func (a *attempt) deniesWord(i int) bool {
	for k := i - 1; k >= max(0, i-8); k-- {
		if w := &a.words[k]; w.end <= a.words[i].start && w.means.meets(&notWords) && strings.TrimSpace(a.view.text[w.end:a.words[i].start]) == "" {
			return true
		}
	}
	return false
}

// isFirm reports whether a text between "do not" and a word says no more than how firm that is.
func isFirm(s string) bool {
	switch strings.Trim(s, ", ") {
	case "":
		return s == ""
	case "ever", "under any circumstances", "under any circumstance", "in any case", "in any way":
		return true
	}
	return false
}

// isOr reports whether a text stands between things of which one is to be chosen.
func isOr(s string) bool {
	switch s {
	case ",", "or", "nor", ", or", ", nor":
		return true
	}
	return false
}

// maxNoun is the longest noun that is looked at.
const maxNoun = 40

// followed reports whether a noun follows right away that makes a credential word something else.
func followed(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\n-_")
	n := 0
	for n < len(rest) && n < maxNoun && text.Is(rest[n], text.Letter) {
		n++
	}
	return n > 0 && company.HasString(strings.ToLower(rest[:n]))
}

// company are the nouns after "password" or "secret" of which it is only a part.
var company = text.Words(`policy policies manager managers reset resets hash hashes hashing strength length field fields prompt prompts protected protection
	encryption requirement requirements generator generation generators file files rotation recovery change changes expiry expiration authentication complexity
	entry store storage stores vault variable variables parameter parameters argument box input form forms santa sharing management safety security hygiene
	best rules rule check checker cracking cracker type types format validation validator manager's system systems column columns attribute attributes service services
	engine engines provider link links page example examples endpoint scanning scanner scan detection leak leaks usage limit limits count bucket name names option settings setting`)

// discussed reports whether what stands from start to end, where a word ends, is spoken about rather
// than said: it is quoted or reported, and the text around is about attacks, examples and their
// detection.
func discussed(text string, words []hit, word, start, end int) bool {
	if !quoted(text, start, end) && !reported(text[:start]) {
		return false
	}
	for i := word; i >= 0 && words[i].end > start-160; i-- {
		if w := words[i]; w.means.meets(&aboutWords) && w.end <= start {
			return true
		}
	}
	for i := word + 1; i < len(words) && words[i].end < end+100+longest; i++ {
		if w := words[i]; w.means.meets(&aboutWords) && w.start >= end && w.start-end < 100 {
			return true
		}
	}
	return false
}

// longest is more than the longest word of the lexicon has bytes.
const longest = 200

// quoted reports whether an opening quotation mark stands shortly before start and a closing one
// shortly after end.
func quoted(s string, start, end int) bool {
	before, after := s[max(0, start-60):start], s[end:min(len(s), end+100)]
	for _, marks := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"„", "“"}, {"「", "」"}, {"*", "*"}} {
		i := strings.LastIndex(before, marks[0])
		if i < 0 || !strings.Contains(after, marks[1]) {
			continue
		}
		if strings.ContainsAny(before[i:], "\n") || i > 0 && text.Is(before[i-1], text.Letter|text.Digit) {
			continue
		}
		return true
	}
	return false
}

// reported reports whether the text before a demand makes it somebody else's: "… to ignore".
func reported(before string) bool {
	fields := strings.Fields(before[max(0, len(before)-40):])
	if len(fields) == 0 {
		return false
	}
	switch strings.ToLower(strings.Trim(fields[len(fields)-1], `"'(,`)) {
	case "to", "that", "by", "of", "like", "as", "about", "into", "for", "which", "who", "models", "model", "llm", "assistant":
		return true
	}
	return false
}
