package main

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
)

const (
	madeEnglish = 9000 // attacks that are made in English, and as many harmless texts
	madeOther   = 1500 // in each other language
)

// makeTexts makes attacks and harmless texts from the templates. Of the attacks some stand in the midst of
// harmless texts.
func makeTexts(seed uint64, around []*doc) ([]*doc, error) {
	list, err := grammars()
	if err != nil {
		return nil, err
	}
	var carriers []*doc
	for _, d := range around {
		if !d.attack && len(d.text) > 300 {
			carriers = append(carriers, d)
		}
	}
	var docs []*doc
	for i, g := range list {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		n := madeOther
		if g.language == "en" {
			n = madeEnglish
		}
		for range n {
			docs = append(docs, g.attack(r, carriers), g.peace(r))
		}
	}
	return docs, nil
}

// threats says how often attacks are of a category.
var threats = []scanner.Category{
	scanner.RoleHijacking, scanner.RoleHijacking, scanner.RoleHijacking, scanner.RoleHijacking,
	scanner.DataExfiltration, scanner.DataExfiltration, scanner.DataExfiltration, scanner.PrivilegeEscalation,
}

// attack makes an attack.
func (g *grammar) attack(r *rand.Rand, carriers []*doc) *doc {
	threat := threats[r.IntN(len(threats))]
	d := &doc{source: "templates " + g.language, group: inAll, attack: true, threat: threat, made: true}
	d.text = g.line(string(threat), r)
	for r.IntN(3) == 0 { // of several sentences
		next := g.line(string(threats[r.IntN(len(threats))]), r)
		d.text += []string{" ", "\n", "\n\n"}[r.IntN(3)] + next
	}
	switch r.IntN(10) {
	case 0, 1, 2: // in a document
		carrier := carriers[r.IntN(len(carriers))]
		d.group = carrier.group // who has never seen the document must not see it as an attack's
		before, after := piece(r, carrier.text), piece(r, carrier.text)
		d.from, d.to = len(before)+1, len(before)+1+len(d.text)
		d.text = before + "\n" + d.text + "\n" + after
	case 3: // behind or before an ordinary question
		if ask := g.line(harmless, r); r.IntN(2) == 0 {
			d.text = ask + "\n" + d.text
		} else {
			d.text += "\n" + ask
		}
	case 4:
		d.text = misspelt(d.text, r)
	case 5:
		if r.IntN(3) == 0 {
			d.text = `"` + d.text + `"`
		}
	}
	return d
}

// peace makes a harmless text.
func (g *grammar) peace(r *rand.Rand) *doc {
	d := &doc{source: "templates " + g.language, group: inAll, made: true, text: g.line(harmless, r)}
	for r.IntN(5) < 2 {
		d.text += []string{" ", "\n", "\n- "}[r.IntN(3)] + g.line(harmless, r)
	}
	return d
}

// piece is a part of a text.
func piece(r *rand.Rand, text string) string {
	from := r.IntN(max(1, len(text)-300))
	to := min(len(text), from+50+r.IntN(400))
	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	return strings.ToValidUTF8(text[from:to], "")
}

// misspelt drops, doubles or swaps a letter here and there.
func misspelt(text string, r *rand.Rand) string {
	c := []rune(text)
	for range 1 + len(c)/25 {
		i := r.IntN(len(c))
		switch r.IntN(3) {
		case 0:
			c = append(c[:i], c[i+1:]...)
		case 1:
			c = append(c[:i+1], c[i:]...)
		case 2:
			if i+1 < len(c) {
				c[i], c[i+1] = c[i+1], c[i]
			}
		}
		if len(c) == 0 {
			return text
		}
	}
	return string(c)
}
