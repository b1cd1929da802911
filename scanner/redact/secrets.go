package redact

import (
	"errors"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// limits of known secrets.
const (
	minSecret = 8       // bytes; a shorter value would be found in ordinary words
	maxSecret = 8 << 10 // bytes
	maxValues = 4096
)

// Errors of [Secrets.Register].
var (
	ErrTooShort = errors.New("redact: a known secret has at least 8 bytes")
	ErrTooLong  = errors.New("redact: a known secret has at most 8 KiB")
	ErrTooMany  = errors.New("redact: 4096 known secrets are registered already")
)

// Secrets is a set of values that are known to be secret, such as the API keys of a
// configuration. Its redactors find them wherever they stand: as they are, escaped as in JSON
// or a URL, and inside of base64 at any offset; and all that the package's redactors find. It is
// safe for concurrent use. A nil *Secrets holds none.
//
// A redactor keeps to the values that were registered when its stream began.
type Secrets struct {
	mu     sync.Mutex
	values map[string]int // how often each was registered
	forms  atomic.Pointer[literal.Forms]
	watch  *watch // of [Secrets.Watched]
}

// NewSecrets returns a set without values.
func NewSecrets() *Secrets { return new(Secrets) }

// Register adds a value. One that is registered twice has to be removed twice.
func (s *Secrets) Register(value string) error {
	switch {
	case len(value) < minSecret:
		return ErrTooShort
	case len(value) > maxSecret:
		return ErrTooLong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[value] == 0 && len(s.values) >= maxValues {
		return ErrTooMany
	}
	if s.values == nil {
		s.values = make(map[string]int)
	}
	if s.values[value]++; s.values[value] == 1 {
		f := s.forms.Load().Clone()
		f.Add(value)
		s.forms.Store(f)
	}
	return nil
}

// Remove takes back one registration of a value.
func (s *Secrets) Remove(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[value] == 0 {
		return
	}
	if s.values[value]--; s.values[value] > 0 {
		return
	}
	delete(s.values, value)
	var f *literal.Forms
	for v := range s.values {
		if f == nil {
			f = new(literal.Forms)
		}
		f.Add(v)
	}
	s.forms.Store(f)
}

// With returns a set of the same values and more, for one request or one run; values that cannot
// be registered are left out. What is registered with s later is not part of it.
func (s *Secrets) With(values ...string) *Secrets {
	f := s.load()
	with := &Secrets{values: make(map[string]int)}
	if s != nil {
		s.mu.Lock()
		maps.Copy(with.values, s.values)
		s.mu.Unlock()
	}
	copied := false
	for _, v := range values {
		if len(v) < minSecret || len(v) > maxSecret || with.values[v] > 0 {
			continue
		}
		if !copied {
			f, copied = f.Clone(), true
		}
		with.values[v] = 1
		f.Add(v)
	}
	with.forms.Store(f)
	return with
}

// load returns the forms of the values, nil without any.
func (s *Secrets) load() *literal.Forms {
	if s == nil {
		return nil
	}
	return s.forms.Load()
}

// TextStream returns a redactor of plain text that knows the values.
func (s *Secrets) TextStream() *TextStream {
	r := new(TextStream)
	r.know(s)
	return r
}

// JSONStream returns a redactor of a JSON document that knows the values.
func (s *Secrets) JSONStream() *JSONStream { return &JSONStream{from: s} }

// EventStream returns a redactor of a text/event-stream that knows the values.
func (s *Secrets) EventStream() *EventStream {
	return &EventStream{state: streamFields{from: s}}
}

// LineStream returns a redactor of JSON lines that knows the values.
func (s *Secrets) LineStream() *LineStream {
	return &LineStream{state: streamFields{from: s}}
}

// Redact is [Text] that knows the values.
func (s *Secrets) Redact(text string) string {
	if s.stays([]byte(text)) {
		return text
	}
	r := s.TextStream()
	out := r.Append(make([]byte, 0, len(text)+len(Mark)), []byte(text))
	return string(r.Close(out))
}

// stays reports whether a text has nothing that would have to be looked at.
func (s *Secrets) stays(text []byte) bool { return s.load().Clean(text) && !marks.Contains(text) }

// RedactJSON is [JSON] that knows the values.
func (s *Secrets) RedactJSON(doc []byte) []byte {
	r := s.JSONStream()
	return r.Close(r.Append(make([]byte, 0, len(doc)+len(Mark)), doc))
}
