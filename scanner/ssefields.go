package scanner

import (
	"bytes"
	"slices"
)

// sseFields keeps the texts that go on from event to event.
type sseFields struct {
	texts  map[string]*sseText // by the name of the event and the path of the field
	rests  []*sseText          // those that hold something back, the oldest first
	alive  bool                // a secret may have begun in a text
	shapes shapes
	walker walker
	key    []byte // of the field that is looked up
	buf    []byte

	// The event that is being read.
	name     string
	data     []byte
	template []byte   // copy of data, made for the first rest
	last     bool     // texts end with this event
	text     *sseText // of the open string
}

// sseText is a text that is written piece by piece. It is either a field of JSON documents or
// the data itself.
type sseText struct {
	json     jsonText
	plain    *Redactor
	name     string // of the event
	path     string // of the field
	template []byte // data of the event that the rest is from
}

func (t *sseText) engine() *engine {
	if t.plain != nil {
		return &t.plain.engine
	}
	return &t.json.engine
}

// live reports whether a secret may have begun in a text.
func (s *sseFields) live() bool {
	for _, t := range s.texts {
		if t.engine().live() {
			return true
		}
	}
	return false
}

// holds reports whether a text holds something back.
func (s *sseFields) holds() bool { return len(s.rests) > 0 }

// reset forgets all texts.
func (s *sseFields) reset() {
	clear(s.texts)
	s.shapes.forget()
	s.rests = s.rests[:0]
}

// find returns the text of the key, a new one if there is none, nil if there are too many.
func (s *sseFields) find(key []byte) *sseText {
	if t := s.texts[string(key)]; t != nil {
		return t
	}
	if len(s.texts) >= maxFields {
		s.shapes.forget()
		for k, t := range s.texts {
			if !t.engine().live() {
				delete(s.texts, k)
			}
		}
		if len(s.texts) >= maxFields {
			return nil
		}
	}
	if s.texts == nil {
		s.texts = make(map[string]*sseText)
	}
	_, path, _ := bytes.Cut(key, []byte("\n"))
	t := &sseText{name: s.name, path: string(path)}
	s.texts[string(key)] = t
	return t
}

// plain redacts data that is not JSON.
func (s *sseFields) message(name string, data []byte, last bool) []byte {
	s.begin(name, data, last)
	t := s.find(append(s.key[:0], name...))
	if t == nil {
		return []byte(Redact(string(data)))
	}
	if t.plain == nil {
		t.plain = NewRedactor()
	}
	s.buf = t.plain.Append(s.buf[:0], data)
	if !s.rest(t) {
		s.buf = t.plain.Close(s.buf)
	}
	return s.buf
}

// document redacts data that is JSON.
func (s *sseFields) document(name string, data []byte, last bool) []byte {
	s.begin(name, data, last)
	w := &s.walker
	w.reset()
	w.fields, w.out = s, s.buf[:0]
	n := w.walk(data)
	w.end()
	s.buf, w.out = w.out, nil
	if n < len(data) {
		s.shapes.spoil()
		return RedactJSON(data)
	}
	return s.buf
}

func (s *sseFields) begin(name string, data []byte, last bool) {
	s.name, s.data, s.template, s.last = name, data, nil, last
	s.shapes.begin()
}

// open implements [fields].
func (s *sseFields) open(path, key []byte) *jsonText {
	if whole(path, key) {
		s.shapes.add(&s.walker, slot{kind: ownString})
		return nil
	}
	s.key = append(append(append(s.key[:0], s.name...), '\n'), path...)
	s.text = s.find(s.key)
	if s.text == nil {
		s.shapes.spoil()
		return nil
	}
	s.shapes.add(&s.walker, slot{kind: fieldString, text: s.text})
	return &s.text.json
}

// number implements [fields].
func (s *sseFields) number() { s.shapes.add(&s.walker, slot{kind: number}) }

// shut implements [fields].
func (s *sseFields) shut(t *jsonText) {
	if !s.rest(s.text) {
		t.close()
	} else {
		t.suspend()
	}
	s.shapes.shut(len(s.walker.out))
}

// rest notes what the text holds back after this event. It reports false when the text must
// end here: with the last event, or when there is no room for a rest.
func (s *sseFields) rest(t *sseText) bool {
	i := slices.Index(s.rests, t)
	held := len(t.engine().held()) > 0
	room := len(s.data) <= maxTemplate && (i >= 0 || len(s.rests) < maxRests)
	if !held || !room || s.last {
		if t.template = nil; i >= 0 {
			s.rests = slices.Delete(s.rests, i, i+1)
		}
		return !s.last && (!held || room)
	}
	if i < 0 {
		s.rests = append(s.rests, t)
	}
	if s.template == nil {
		s.template = bytes.Clone(s.data)
	}
	t.template = s.template
	return true
}

// flush appends an event for each text that holds something back.
func (s *sseFields) flush(dst []byte) []byte {
	for _, t := range s.rests {
		var data []byte
		if t.plain != nil {
			data = t.plain.Close(nil)
		} else {
			w := walker{fields: &repeat{text: t}}
			w.walk(t.template)
			data = w.out
		}
		if t.name != "" {
			dst = append(append(append(dst, "event: "...), t.name...), '\n')
		}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			dst = append(append(append(dst, "data: "...), line...), '\n')
		}
		dst = append(dst, '\n')
		t.template = nil
	}
	s.rests = s.rests[:0]
	return dst
}

// repeat gives the fields of a repeated event their texts: the rest to the one that held it
// back, nothing to the others.
type repeat struct {
	text    *sseText
	nothing jsonText
	done    bool
}

// open implements [fields].
func (r *repeat) open(path, key []byte) *jsonText {
	if whole(path, key) {
		return nil
	}
	t := &r.nothing
	if !r.done && string(path) == r.text.path {
		t = &r.text.json
	}
	t.mute = true
	return t
}

// shut implements [fields].
func (r *repeat) shut(t *jsonText) {
	if t.mute = false; t == &r.text.json {
		r.done = true
		t.close()
	}
}

// number implements [fields].
func (r *repeat) number() {}

// whole reports whether a field is always written in one piece, so that what stands in one
// event does not go on in the next.
func whole(path, key []byte) bool {
	key = bytes.TrimPrefix(key, []byte("/"))
	if wholeFields.has(key) || bytes.HasSuffix(key, []byte("_id")) || bytes.HasSuffix(key, []byte("_at")) {
		return true
	}
	for len(path) > 1 {
		part, rest, more := bytes.Cut(path[1:], []byte("/"))
		if more && wholeObjects.has(part) {
			return true
		}
		path = path[len(path)-len(rest)-1:]
		if !more {
			break
		}
	}
	return false
}

var (
	wholeFields = words(`type id name role event status model object kind node agent created timestamp time version finish_reason
		stop_reason tool run thread`)
	wholeObjects = words(`metadata usage input args params headers`)
)
