package redact

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/convention"
	"github.com/svc-gateway/svc/scanner/redact/waiting"
	"github.com/svc-gateway/svc/scanner/redact/words"
	"github.com/svc-gateway/svc/scanner/sse"
)

// streamFields keeps the texts that go on from event to event.
type streamFields struct {
	from   *Secrets
	lines  bool                        // an event is a line, and its end part of a text that is not JSON
	texts  map[string]*fieldText       // by the path of the field
	own    map[string]*jsonscan.OwnIDs // by the path of the object
	alive  bool                        // a secret may have begun in a text
	queue  waiting.Queue[fieldText]
	shapes shapes
	walker walker
	reader jsonscan.IDReader
	buf    []byte

	// The event that is being read.
	data    []byte
	ids     []jsonscan.ObjectID // of its objects that have ids
	objects int                 // that were opened
	next    int                 // of ids
	mode    convention.Mode
	last    bool // texts end with this event
	holes   []*waiting.Hole[fieldText]
	text    *fieldText // of the open string
	start   int        // of its inside, in data
	held    []byte     // what the text held back before the string
	written int        // of the walker's output before the string's inside
}

// live reports whether a secret may have begun in a text.
func (s *streamFields) live() bool {
	for _, t := range s.texts {
		if t.live() {
			return true
		}
	}
	return false
}

// reset forgets all texts.
func (s *streamFields) reset() {
	clear(s.texts)
	clear(s.own)
	s.shapes.forget()
}

// find returns the text of the key, a new one if there is none, nil if there are too many.
func (s *streamFields) find(key []byte) *fieldText {
	if t := s.texts[string(key)]; t != nil {
		return t
	}
	if len(s.texts) >= maxFields {
		s.shapes.forget()
		for k, t := range s.texts {
			if !t.live() {
				delete(s.texts, k)
			}
		}
		if len(s.texts) >= maxFields {
			return nil
		}
	}
	if s.texts == nil {
		s.texts = make(map[string]*fieldText)
	}
	t := newFieldText(s.from)
	t.path = string(key)
	s.texts[t.path] = t
	return t
}

// plainText is the key of the text that data is which is not JSON. No path is like it.
const plainText = "text"

// message redacts data that is not JSON.
func (s *streamFields) message(data []byte, last bool) []byte {
	s.begin("", data, last)
	t := s.find([]byte(plainText))
	if t == nil {
		return joined([]byte(s.from.Redact(string(data))), s.from)
	}
	if t.plain == nil {
		t.plain = s.from.TextStream()
	}
	held := t.heldBack()
	s.buf = t.giveBack(held, t.plain.Append(s.buf[:0], data), 0)
	if !s.lines {
		s.buf = joined(s.buf, s.from)
	}
	if !s.noteRest(t, len(s.buf)) {
		s.buf = t.plain.Close(s.buf)
	}
	return s.buf
}

// document redacts data that is JSON, or begins like it.
func (s *streamFields) document(name string, data []byte, last bool) []byte {
	s.begin(name, data, last)
	s.reader.Naming, s.reader.Secret = naming, secretName
	s.ids = s.reader.Read(data)
	w := &s.walker
	w.reset()
	w.fields, w.out = s, s.buf[:0]
	w.own.know(s.from)
	w.own.waits = true
	n := w.walk(data)
	if n < len(data) {
		s.shapes.spoil()
		rest := w.fail(data[n:])
		s.buf = append(w.out, rest...)
	} else {
		cut := w.state == inString && s.text != nil && w.text == &s.text.json
		if w.end(); cut {
			s.text.supersede(data[s.start:], w.out[s.written:])
			w.out = s.text.giveBack(s.held, w.out, s.written)
		}
		s.buf = w.out
	}
	w.out = nil
	return s.buf
}

func (s *streamFields) begin(name string, data []byte, last bool) {
	s.data, s.last, s.mode = data, last, convention.ModeOf(name)
	s.objects, s.next, s.holes = 0, 0, nil
	s.from.watcher().at(nil)
	if s.shapes.begin(); s.mode >= convention.Growing {
		s.shapes.spoil()
	}
}

// tag implements [fields].
func (s *streamFields) tag(path []byte) (tag []byte, named bool) {
	object := s.objects
	s.objects++
	if s.next >= len(s.ids) || s.ids[s.next].Object != object {
		return nil, false
	}
	id := s.ids[s.next]
	s.next++
	if id.Bare == nil {
		return id.Tag, id.Named
	}
	o := s.own[string(path)]
	if o == nil {
		if s.own == nil || len(s.own) >= maxFields {
			s.own = make(map[string]*jsonscan.OwnIDs)
		}
		o = new(jsonscan.OwnIDs)
		s.own[string(path)] = o
	}
	tells := o.Tells(id.Bare)
	if !o.Repeated {
		s.shapes.spoil()
	}
	if !tells {
		return id.Tag, id.Named
	}
	return append(append(id.Tag, '='), id.Bare...), id.Named
}

// open implements [fields].
func (s *streamFields) open(path, key []byte) *jsonText {
	s.start = s.walker.at + 1
	if apart := s.mode == convention.Wholes || s.mode == convention.Grown && s.texts[string(path)] == nil; apart || whole(path, key) {
		if apart || jsonscan.IDPlace(bytes.TrimPrefix(key, []byte("/"))) < 0 {
			s.shapes.addSlot(&s.walker, slot{kind: ownString})
		}
		return nil
	}
	s.text = s.find(path)
	if s.text == nil {
		s.shapes.spoil()
		return nil
	}
	switch again := s.text.again(s.data[s.start:]); {
	case s.mode >= convention.Growing && again == goesOn && s.text.hole != nil:
		s.text.end()
		s.text.restart("")
	case s.mode >= convention.Growing:
		s.text.restart("")
	case again == repeats:
		s.text.restart(Mark)
	default:
		s.text.perhaps = again == mayRepeat
		s.text.begun = bytes.Clone(s.text.json.finder.buf)
	}
	s.held, s.written = s.text.heldBack(), len(s.walker.out)+len(`"`)
	s.shapes.addSlot(&s.walker, slot{kind: fieldString, text: s.text})
	return &s.text.json
}

// stays implements [fields].
func (s *streamFields) stays() {
	s.start = s.walker.at + 1
	s.shapes.addSlot(&s.walker, slot{kind: ownString})
}

// number implements [fields].
func (s *streamFields) number(key []byte, secret bool) {
	if secret {
		s.shapes.spoil()
	} else if jsonscan.IDPlace(key) < 0 {
		s.shapes.addSlot(&s.walker, slot{kind: number})
	}
}

// shut implements [fields].
func (s *streamFields) shut(t *jsonText) {
	inside := s.data[s.start:]
	inside = inside[:jsonscan.StringLength(s.data[s.start-1:])-2]
	back := s.text.giveBack
	if s.text.outgrows(s.data[s.start:]) {
		back = s.text.takeAway
	}
	s.text.grow(inside)
	s.text.supersede(inside, s.walker.out[s.written:])
	s.walker.out = back(s.held, s.walker.out, s.written)
	if !s.noteRest(s.text, len(s.walker.out)) {
		t.close()
	} else {
		t.suspend()
	}
	s.shapes.shut(len(s.walker.out))
}

// noteRest notes what the text holds back where the event's data is at by now. It reports false
// when the text must end here, with the last event.
func (s *streamFields) noteRest(t *fieldText, at int) bool {
	if s.last || s.mode == convention.Grown {
		return false
	}
	if len(t.rest()) > 0 {
		t.hole = &waiting.Hole[fieldText]{Text: t, At: at}
		s.holes = append(s.holes, t.hole)
	}
	return true
}

// event appends an event with its data redacted, or makes it wait; last says that its texts end
// here.
func (s *streamFields) event(dst []byte, name string, event, data []byte, last bool, write waiting.Writer) []byte {
	call := convention.Call(name, data)
	end := call || (s.alive || !s.queue.Empty()) && convention.Ends(name, data)
	if end && !last {
		dst = s.flush(dst)
	}
	var text []byte
	switch {
	case end && string(data) == "[DONE]":
		s.begin("", data, true)
		text = data
	case len(data) > 0 && (data[0] == '{' || data[0] == '[' || data[0] == '"') && (last || s.alive && data[0] != '[' || jsonscan.Valid(data)):
		text = s.document(name, data, last || end)
		if len(s.holes) == 0 && bytes.IndexByte(data, '\n') >= 0 && !jsonscan.Valid(data) {
			text = joined(text, s.from)
		}
	default:
		if s.lines {
			data, write = slices.Concat(data, event), appendText
		}
		text = s.message(data, last || end)
	}
	if end {
		s.queue.Each((*fieldText).end)
		s.reset()
	}
	if call {
		s.shapes.spoil()
	}
	if s.alive = s.live(); !s.alive {
		s.shapes.learn(name, event, data, text)
	}
	return s.emit(dst, event, text, write)
}

// piece is event for one of a known shape in which one text has a mark. Only that text is looked at:
// the rest stays, as it did before. line is the event from its data on.
func (s *streamFields) piece(dst []byte, f *shape, t *slot, line, event []byte) []byte {
	s.begin(f.name, line[f.data:sse.LineLength(line)], false)
	s.shapes.spoil()
	s.text, s.start = t.text, t.start-f.data
	s.held, s.written = s.text.heldBack(), s.start
	w := &s.walker
	w.reset()
	w.fields, w.out, w.path = s, append(s.buf[:0], s.data[:s.start]...), append(w.path, t.text.path...)
	w.own.know(s.from)
	w.own.watch.at(w.path)
	w.state, w.text = inString, &s.text.json
	w.text.out = &w.out
	end := s.start + t.end - t.start + len(`"`)
	w.read(s.data[s.start:end])
	s.buf = append(w.out, s.data[end:]...)
	w.out = nil
	f.advance(line)
	s.alive = s.live()
	return s.emit(dst, event, s.buf, sse.WithData)
}

// emit appends the event with the redacted data, or makes it wait.
func (s *streamFields) emit(dst, event, text []byte, write waiting.Writer) []byte {
	dst = s.queue.Release(dst)
	holes := s.holes
	if s.holes = nil; len(holes) == 0 && s.queue.Empty() {
		return write(dst, event, text)
	}
	s.queue.Push(waiting.Event[fieldText]{Raw: bytes.Clone(event), Data: bytes.Clone(text), Holes: holes, Write: write})
	if s.queue.Full() {
		s.queue.Each((*fieldText).giveUp)
		s.alive = s.live()
	}
	return s.queue.Release(dst)
}

// flush ends the texts that hold something back and appends the events that wait.
func (s *streamFields) flush(dst []byte) []byte {
	s.queue.Each((*fieldText).end)
	return s.queue.Release(dst)
}

// whole reports whether a field is always written in one piece, so that what stands in one
// event does not go on in the next.
func whole(path, key []byte) bool {
	key = bytes.TrimPrefix(key, []byte("/"))
	if wholeFields.HasFold(key) || len(key) > len("tokens") && (nameKind(key) == guardedKey || words.Handle(key)) || bytes.HasSuffix(key, []byte("_id")) || bytes.HasSuffix(key, []byte("_at")) {
		return true
	}
	for len(path) > 1 {
		part, rest, more := bytes.Cut(path[1:], []byte("/"))
		part, _, _ = bytes.Cut(part, []byte("@"))
		if more && wholeObjects.Has(part) {
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
	wholeFields = text.Words(`type id name role event status model object kind node agent created timestamp time version finish_reason
		stop_reason tool run thread messageid toolcallid checkpoint_ns langgraph_checkpoint_ns digest reason where decision by`)
	wholeObjects = text.Words(`metadata usage input args headers`)
)
