package scan

import "bytes"

// templates are the last records in which a single text went on. Most records of an answer differ
// from the one before in nothing else: then it is that text that is scanned, and all around it was.
type templates struct {
	known [4]template
	next  int // the one that is replaced next

	// Of the record that is being read.
	pieces int
	place  []byte // of the last piece
	quoted []byte // that piece, in quotes
}

// template is a record but for the inside of one string.
type template struct {
	head, tail []byte // up to the string's opening quote, and from the closing one on
	place      []byte // of the text
}

// match returns the place of the text of which a record holds the next piece, and the piece.
func (ts *templates) match(record []byte) (place, piece []byte, ok bool) {
	for i := range ts.known {
		t := &ts.known[i]
		if len(t.head) == 0 || len(record) < len(t.head)+len(t.tail) || !bytes.HasPrefix(record, t.head) || !bytes.HasSuffix(record, t.tail) {
			continue
		}
		if inside := record[len(t.head) : len(record)-len(t.tail)]; plain(inside) {
			return t.place, inside, true
		}
	}
	return nil, nil, false
}

// begin begins to read a record.
func (ts *templates) begin() { ts.pieces = 0 }

// note takes a piece of a text in the record.
func (ts *templates) note(place, piece []byte) {
	ts.pieces++
	ts.place, ts.quoted = append(ts.place[:0], place...), append(append(append(ts.quoted[:0], '"'), piece...), '"')
}

// learn remembers the record if a single piece was in it and it can be told where: where nothing
// is escaped, no other string can look like it.
func (ts *templates) learn(record []byte) {
	inside := len(ts.quoted) - len(`""`)
	if ts.pieces != 1 || bytes.IndexByte(record, '\\') >= 0 {
		return
	}
	at := bytes.Index(record, ts.quoted) + 1
	if at == 0 || bytes.Contains(record[at:], ts.quoted) {
		return
	}
	t := &ts.known[ts.next]
	ts.next = (ts.next + 1) % len(ts.known)
	t.head = append(t.head[:0], record[:at]...)
	t.tail = append(t.tail[:0], record[at+inside:]...)
	t.place = append(t.place[:0], ts.place...)
}

// plain reports whether the inside of a JSON string stands for itself.
func plain(p []byte) bool {
	for _, b := range p {
		if b < ' ' || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}
