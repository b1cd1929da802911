package main

import (
	"hash/fnv"
	"slices"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/model"
)

// doc is a text to learn from.
type doc struct {
	source string // for figures
	group  string // of which all is in one fold; nearer than the source where texts belong together
	text   string
	attack bool
	threat scanner.Category // of an attack, where it is known
	made   bool             // by the templates: it trains, and is not measured with
	unfit  bool             // to learn from: it is measured with, and does not train
	from   int              // where an attack in other text begins and ends, in bytes; 0, 0: it is all of it
	to     int

	tokens   []int32  // where the features of each token begin
	features []uint32 // of all tokens
	words    []uint32
	starts   []int32 // of the tokens in the text
	again    []bool  // whether they repeat others
	first    int     // token where the attack begins
	last     int     // token behind it
	fold     int
}

// set is all texts.
type set struct{ docs []*doc }

// read makes the tokens of the text.
func (d *doc) read() {
	d.first, d.last = -1, 0
	var hashes []uint32
	model.Read(d.text, func(t model.Token) {
		if d.to > 0 && t.Start >= d.from && t.End <= d.to {
			if d.first < 0 {
				d.first = len(d.words)
			}
			d.last = len(d.words) + 1
		}
		d.tokens = append(d.tokens, int32(len(d.features)))
		for _, f := range t.Features {
			d.features = append(d.features, f%model.Features)
		}
		d.words = append(d.words, t.Word%model.Words)
		d.starts = append(d.starts, int32(t.Start))
		d.again = append(d.again, slices.Contains(hashes[max(0, len(hashes)-model.Repeat):], t.Word))
		hashes = append(hashes, t.Word)
	})
	d.tokens = append(d.tokens, int32(len(d.features)))
	if d.to == 0 || d.first < 0 {
		d.first, d.last = 0, len(d.words)
	}
}

// len is how many tokens the text has.
func (d *doc) len() int { return len(d.words) }

// of returns the features of the tokens from one to another.
func (d *doc) of(from, to int) []uint32 { return d.features[d.tokens[from]:d.tokens[to]] }

// inAll is the group of texts that are in every fold's training.
const inAll = ""

// place puts the texts into folds, all of a group into the same.
func (s *set) place() {
	for _, d := range s.docs {
		if d.fold = int(hash(d.group) % folds); d.group == inAll {
			d.fold = noFold
		}
	}
}

func (s *set) sources() []string {
	var names []string
	for _, d := range s.docs {
		names = append(names, d.source)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hash is a number that a text always has.
func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	v := h.Sum64()
	return v ^ v>>29
}

// distinct leaves out texts most of whose runs of eight words others have, too.
func (s *set) distinct() {
	const run = 8
	seen := make(map[uint64]struct{})
	s.docs = slices.DeleteFunc(s.docs, func(d *doc) bool {
		var marks []uint64
		for i := range max(1, d.len()-run+1) {
			var h uint64 = 14695981039346656037
			for _, w := range d.words[i:min(i+run, d.len())] {
				h = (h ^ uint64(w)) * 1099511628211
			}
			if h = h ^ h>>31; d.len() < 200 || h%16 == 0 { // of long texts a part tells
				marks = append(marks, h)
			}
		}
		known := 0
		for _, m := range marks {
			if _, ok := seen[m]; ok {
				known++
			}
		}
		for _, m := range marks {
			seen[m] = struct{}{}
		}
		return known > 0 && 5*known > 4*len(marks)
	})
}
