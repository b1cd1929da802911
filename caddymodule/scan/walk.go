package scan

import (
	"encoding/json"
	"strings"
)

// walker visits the strings of a JSON document, object keys included.
type walker struct {
	fields *fields
	doc    string
	i      int
	path   []string // keys and, for elements of arrays, "*"
	visit  func(path []string, value string, key bool)
}

// walk calls visit for every string of a valid document that is to be scanned, with the path of
// the object for a key.
func (f *fields) walk(doc string, visit func(path []string, value string, key bool)) {
	w := walker{fields: f, doc: doc, visit: visit}
	w.value(f.top())
}

// value visits the value at i.
func (w *walker) value(is want) {
	w.space()
	if w.i >= len(w.doc) {
		return
	}
	switch w.doc[w.i] {
	case '{':
		w.object(is)
	case '[':
		w.i++
		w.path = append(w.path, "*")
		for w.more(']') {
			w.value(w.fields.below(w.path, is))
		}
		w.path = w.path[:len(w.path)-1]
	case '"':
		w.text(is, false)
	default:
		for w.i < len(w.doc) && strings.IndexByte(",]} \t\r\n", w.doc[w.i]) < 0 {
			w.i++
		}
	}
}

// maxRoleDepth is how deep messages may lie whose role is looked at. Each level is one more look at
// what is below it.
const maxRoleDepth = 6

func (w *walker) object(is want) {
	if w.fields.roles && is != never && len(w.path) < maxRoleDepth && trusted(w.doc[w.i:]) {
		is = never
	}
	w.i++
	for w.more('}') {
		w.space()
		key := w.text(is, true)
		w.space()
		w.i++ // the colon
		w.path = append(w.path, key)
		w.value(w.fields.below(w.path, is))
		w.path = w.path[:len(w.path)-1]
	}
}

// more moves to the next element and reports whether there is one before the closing bracket.
func (w *walker) more(closing byte) bool {
	w.space()
	if w.i < len(w.doc) && w.doc[w.i] == ',' {
		w.i++
		w.space()
	}
	if w.i < len(w.doc) && w.doc[w.i] != closing {
		return true
	}
	w.i++
	return false
}

func (w *walker) space() {
	for w.i < len(w.doc) && (w.doc[w.i] == ' ' || w.doc[w.i] == '\t' || w.doc[w.i] == '\r' || w.doc[w.i] == '\n') {
		w.i++
	}
}

// text reads the string at i, visits it if it is to be scanned, and returns its value.
func (w *walker) text(is want, key bool) string {
	start, escaped := w.i, false
	for w.i++; w.doc[w.i] != '"'; w.i++ { // the document is valid: the string ends
		if w.doc[w.i] == '\\' {
			escaped = true
			w.i++
		}
	}
	w.i++
	value := w.doc[start+1 : w.i-1]
	if escaped {
		var decoded string
		if json.Unmarshal([]byte(w.doc[start:w.i]), &decoded) == nil {
			value = decoded
		}
	}
	if is == wanted {
		w.visit(w.path, value, key)
	}
	return value
}

// trusted reports whether the object is a message of the application's own: of the role system
// or developer.
func trusted(doc string) (is bool) {
	w := walker{fields: &everything, doc: doc}
	w.visit = func(path []string, value string, _ bool) {
		if len(path) == 1 && path[0] == "role" && (value == "system" || value == "developer") {
			is = true
		}
	}
	w.value(wanted)
	return is
}
