package strictjson

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// seed makes it impossible to look for two names of one hash beforehand.
var seed = maphash.MakeSeed()

// names holds the hashes of the names in each open object. Two names with one hash, a chance of one
// in 2^64, would be taken for the same.
type names struct {
	hashes []uint64
	starts []int // of each open object's in hashes
	closed int   // objects that have ended
}

func (n *names) open() { n.starts = append(n.starts, len(n.hashes)) }

func (n *names) add(name jsontext.Value) { n.hashes = append(n.hashes, hashOf(name)) }

// hashOf is the hash of what a string in JSON says, however it is escaped.
func hashOf(name jsontext.Value) uint64 {
	if bytes.IndexByte(name, '\\') < 0 {
		return maphash.Bytes(seed, name[1:len(name)-1])
	}
	plain, _ := jsontext.AppendUnquote(nil, name) // the decoder has found it well-formed
	return maphash.Bytes(seed, plain)
}

// close ends the innermost object and returns a hash that it had twice, if there is one.
func (n *names) close() (twice uint64, ok bool) {
	n.closed++
	last := len(n.starts) - 1
	mine := n.hashes[n.starts[last]:]
	n.hashes, n.starts = n.hashes[:n.starts[last]], n.starts[:last]
	slices.Sort(mine)
	for i := 1; i < len(mine); i++ {
		if mine[i] == mine[i-1] {
			return mine[i], true
		}
	}
	return 0, false
}

// findTwice is the place of the second name with a hash in the object that ends as the nth, 1 for
// the first, of a document that is well-formed up to there.
func findTwice(doc []byte, nth int, hash uint64) string {
	// The same name may stand in objects within this one: each object counts for itself.
	type object struct {
		met    int
		second string
	}
	var open []object
	d := newDecoder(doc)
	for {
		if expectsName(d) {
			name, err := d.ReadValue()
			if err != nil {
				return place(d) // it was readable a moment ago
			}
			if o := &open[len(open)-1]; o.second == "" && hashOf(name) == hash {
				if o.met++; o.met == 2 {
					o.second = place(d)
				}
			}
			continue
		}
		token, err := d.ReadToken()
		if err != nil {
			return place(d)
		}
		switch token.Kind() {
		case '{':
			open = append(open, object{})
		case '}':
			if nth--; nth == 0 {
				return open[len(open)-1].second
			}
			open = open[:len(open)-1]
		}
	}
}
