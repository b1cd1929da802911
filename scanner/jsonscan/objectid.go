package jsonscan

import (
	"bytes"
	"slices"
	"strings"
)

// idNames are the members that tell which one of several texts an object is a piece of,
// wherever in the object they stand. Those before "id" do so by their name; "id" is left out
// where one of the numbers is there, and where each event has its own.
var idNames = [...]string{
	"index", "output_index", "content_index", "summary_index", "choice_index", "block_index",
	"item_id", "message_id", "messageid", "run_id", "response_id", "call_id", "tool_call_id", "toolcallid", "task_id", "part_id", "stream_id",
	"id",
}

const (
	numberNames = 6                // of idNames hold numbers
	bareID      = len(idNames) - 1 // place of "id"
	maxOwnIDs   = 3                // different ids under one path before each event is taken to have its own
	maxScalar   = 256              // bytes of an id that is read
	maxOpen     = 64               // objects and arrays within each other for which memory is kept
)

// ObjectID is what tells an object apart: its members of idNames as they are written.
type ObjectID struct {
	Object int // in the order in which objects open
	Tag    []byte
	Bare   []byte // the member "id", when it is not part of the tag
	Named  bool   // it has a name that makes its value a secret
}

// IDReader finds the ids of the objects of a document.
type IDReader struct {
	// Naming reports whether a member names another one, and Secret whether what is named so is a
	// secret.
	Naming, Secret func(p []byte) bool

	ids  []ObjectID
	open []idFrame
}

// idFrame is an open object or array.
type idFrame struct {
	object int // -1: an array
	named  bool
	found  [len(idNames)][]byte
}

// Read returns the ids of the objects of a valid document, in the order in which the objects
// open. They are valid until the next call.
func (r *IDReader) Read(doc []byte) []ObjectID {
	r.ids, r.open = r.ids[:0], r.open[:0]
	r.find(doc)
	if cap(r.open) > maxOpen {
		r.open = nil
	}
	// Inner objects close first.
	slices.SortFunc(r.ids, func(a, b ObjectID) int { return a.Object - b.Object })
	return r.ids
}

func (r *IDReader) find(doc []byte) {
	objects := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '{':
			r.open = append(r.open, idFrame{object: objects})
			objects++
		case '[':
			r.open = append(r.open, idFrame{object: -1})
		case ']':
			r.open = r.open[:max(0, len(r.open)-1)]
		case '}':
			if len(r.open) == 0 {
				return
			}
			top := &r.open[len(r.open)-1]
			if id := newObjectID(top.object, &top.found, top.named); id.Tag != nil || id.Bare != nil || id.Named {
				r.ids = append(r.ids, id)
			}
			r.open = r.open[:len(r.open)-1]
		case '"':
			end := i + StringLength(doc[i:])
			if n := len(r.open); n > 0 && r.open[n-1].object >= 0 && isKey(doc[end:]) {
				r.note(&r.open[n-1], doc[i+1:max(i+1, end-1)], doc[end:])
			}
			i = end - 1
		}
	}
}

// note takes a key of the object and what follows it.
func (r *IDReader) note(f *idFrame, key, rest []byte) {
	if place := IDPlace(key); place >= 0 {
		f.found[place] = scalar(rest)
	} else if r.Naming != nil && r.Naming(key) {
		f.named = r.Secret(bytes.Trim(scalar(rest), `"`))
	}
}

func newObjectID(object int, found *[len(idNames)][]byte, named bool) ObjectID {
	id := ObjectID{Object: object, Named: named}
	for place, v := range found[:bareID] {
		isNumber := len(v) > 0 && v[0] != '"'
		if len(v) == 0 || isNumber != (place < numberNames) {
			continue
		}
		id.Tag = append(append(id.Tag, byte('A'+place)), v...)
	}
	numbered := len(id.Tag) > 0 && id.Tag[0] < 'A'+numberNames
	if bare := found[bareID]; len(bare) > 0 && bare[0] == '"' && !numbered {
		id.Bare = bare
	}
	return id
}

// IDPlace returns the place of a key in idNames, -1 when it is none of them.
func IDPlace(key []byte) int {
	if len(key) < 2 || len(key) > 13 {
		return -1
	}
	for i, n := range idNames {
		if len(n) == len(key) && strings.EqualFold(n, string(key)) {
			return i
		}
	}
	return -1
}

// isKey reports whether a colon follows.
func isKey(p []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(p, " \t\r\n"), []byte(":")) }

// scalar returns the string or number that follows a colon, nil when it is something else.
func scalar(p []byte) []byte {
	p = bytes.TrimLeft(p, ": \t\r\n")
	if len(p) > 0 && p[0] == '"' {
		if n := StringLength(p); n <= maxScalar {
			return p[:n]
		}
		return nil
	}
	if n := NumberLength(p); n > 0 {
		return p[:n]
	}
	return nil
}

// OwnIDs remembers the values of "id" under one path.
type OwnIDs struct {
	seen     []string
	Repeated bool // one came a second time, so they are ids of messages
}

// Tells reports whether the id tells messages apart, rather than events.
func (o *OwnIDs) Tells(id []byte) bool {
	for _, k := range o.seen {
		if k == string(id) {
			o.Repeated = true
		}
	}
	if o.Repeated {
		return true
	}
	if len(o.seen) < maxOwnIDs {
		o.seen = append(o.seen, string(id))
		return true
	}
	return false
}
