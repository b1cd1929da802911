package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/scanner"
)

// gather reads all texts.
func gather(p plan) (*set, error) {
	s := new(set)
	for _, file := range []string{"injection.jsonl", "benign.jsonl", "code.jsonl"} {
		list, err := corpus.Read(filepath.Join(p.corpora, file))
		if err != nil {
			return nil, err
		}
		for _, sample := range list {
			s.docs = append(s.docs, labelled(sample))
		}
	}
	for _, place := range places() {
		most := place.most
		if p.fast {
			most /= 10
		}
		s.docs = append(s.docs, place.texts(most)...)
	}
	made, err := makeTexts(p.seed, s.docs)
	if err != nil {
		return nil, fmt.Errorf("making texts: %w", err)
	}
	s.docs = append(s.docs, made...)
	for _, d := range s.docs {
		d.read()
	}
	s.distinct()
	s.place()
	return s, nil
}

// families are sources of the same authors, of which one would give the others away.
var families = []string{"agt_", "cse_", "mitre_frr", "cse_pi", "bipia_", "notinject_", "tldr_", "agentdyn", "injecguard", "llmguard"}

// labelled makes a text of a sample.
func labelled(s corpus.Sample) *doc {
	d := &doc{source: s.Source, group: s.Source, text: s.Text, attack: s.Label == 1}
	for _, f := range families {
		if strings.HasPrefix(s.Source, f) {
			d.group = f
		}
	}
	if d.attack {
		d.threat, d.unfit = threatOf(s.Category), unfit(s)
		if strings.HasPrefix(s.Category, "bare_task") {
			d.source += " (bare tasks)"
		}
	}
	return d
}

// threatOf is the category of findings that a sample's category is about.
func threatOf(category string) scanner.Category {
	for _, word := range []string{"leak", "exfil", "boundary", "persuasion", "splitting", "formatting", "mixed"} {
		if strings.Contains(category, word) {
			return scanner.DataExfiltration
		}
	}
	return scanner.RoleHijacking
}

// unfit reports whether the text of an attack does not say that it is one: it can be told by what the
// one attacked was to do and no other way, or it is in a code that the detector does not see through.
func unfit(s corpus.Sample) bool {
	for _, word := range []string{
		"bare_task", "different_user_input_language", "hypothetical", "output_formatting", "many_shot", "repeated_token", "indirect_reference",
		"overload", "few_shot", "virtualization", "leet", "encoding", "rot13", "spaced", "compact",
	} {
		if strings.Contains(s.Category, word) {
			return true
		}
	}
	// Of these scripts there is too little harmless text: to be in one would be a sign of an attack.
	return strings.ContainsFunc(s.Text, func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Thai, unicode.Bengali, unicode.Tamil)
	})
}
