package redact

import (
	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// A number is a secret where its key says so and it is as long as one: {"password": 12345678}. So is
// one that is a known secret. It becomes 0, so that it stays a number.
const (
	leastPassword = 4  // digits of a number behind a word for a password
	leastNumber   = 6  // behind any other word for a secret
	maxNumber     = 64 // of which more is never held back
)

// numberBegins reads the first byte of a number; secret says that its key names a secret.
func (w *walker) numberBegins(secret bool) {
	w.hidden = secret || w.own.finder.active() && !w.allowed()
	w.number = w.number[:0]
	if w.fields != nil {
		w.fields.number(w.key(), secret)
	}
}

// digits takes a piece of a number.
func (w *walker) digits(p []byte) {
	if !w.hidden {
		w.out = append(w.out, p...)
		return
	}
	if w.number = append(w.number, p...); len(w.number) > maxNumber { // no password
		w.out = append(w.out, w.number...)
		w.hidden = false
	}
}

// numberEnds writes a number that was held back.
func (w *walker) numberEnds() {
	if !w.hidden {
		return
	}
	w.hidden = false
	rule := ""
	switch forms := w.own.finder.forms; {
	case w.secret() && jsonscan.Digits(w.number) == len(w.number) && len(w.number) >= w.leastDigits():
		if rule = w.rule; rule == "" {
			rule = namedValue
		}
	case forms != nil:
		if _, form := forms.Find(w.number, true); form != "" {
			rule = KnownSecret
		}
	}
	if rule != "" {
		w.own.watch.at(w.path)
		w.own.watch.note(rule)
		w.number = append(w.number[:0], '0')
	}
	w.out = append(w.out, w.number...)
	w.number = w.number[:0]
}

// leastDigits is how many digits make the open number a secret.
func (w *walker) leastDigits() int {
	if word := wordIn(w.key()); word != nil && word.kind == commonWord {
		return leastPassword
	}
	return leastNumber
}

// mayBeKnown reports whether a number of so many bytes may be one of the values.
func mayBeKnown(n int, secrets *literal.Forms) bool { return secrets != nil && n >= literal.MinForm }
