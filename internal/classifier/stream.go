package classifier

import (
	"context"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Step is how much of a text that comes in pieces is sent at once, in bytes, where a piece is not configured to
// be shorter. So much may have passed before the server is asked.
const Step = 2 << 10

// Stream asks about a text that comes in pieces: each time enough of it is there, together with the end of
// what went before, and at the end.
type Stream struct {
	c       *Classifier
	observe Observer
	before  func()             // a call that may take long
	redact  *redact.TextStream // nil: nothing is taken out
	text    []byte             // that may be sent; the first of it was sent before
	kept    int                // that many bytes of it
	came    int                // in all
	told    bool               // that not all is sent
}

// NewStream returns a stream at the beginning of a text. before is called when the server is going to be asked.
// observe may be nil.
func (c *Classifier) NewStream(before func(), observe Observer) *Stream {
	s := &Stream{c: c, before: before, observe: observe}
	if !c.c.Unchanged {
		s.redact = c.c.Secrets.TextStream()
	}
	return s
}

// Write takes the next piece of the text. What it returns is that of [Classifier.Classify].
func (s *Stream) Write(ctx context.Context, piece string) ([]scanner.Finding, error) {
	most := s.c.c.MaxText
	if s.came >= most {
		s.came += len(piece)
		return s.beyond(), nil
	}
	s.came += len(piece)
	if s.redact == nil {
		s.text = append(s.text, piece...)
	} else {
		s.text = s.redact.Append(s.text, []byte(piece))
	}
	if len(s.text)-s.kept < min(Step, s.c.c.Piece) {
		return nil, nil
	}
	return s.ask(ctx)
}

// Close asks about the rest of the text.
func (s *Stream) Close(ctx context.Context) ([]scanner.Finding, error) {
	if s.redact != nil {
		s.text = s.redact.Close(s.text)
	}
	if len(s.text) == s.kept {
		return nil, nil
	}
	return s.ask(ctx)
}

// ask asks about what is there and keeps the end of it.
func (s *Stream) ask(ctx context.Context) ([]scanner.Finding, error) {
	text := string(s.text)
	end := text[boundary(text, max(0, len(text)-min(Step, s.c.c.Piece)/part)):]
	s.text = append(s.text[:0], end...)
	s.kept = len(s.text)
	if !Telling(text) {
		return nil, nil
	}
	s.before()
	return s.c.askAll(ctx, text, s.observe)
}

// beyond tells once that not all of the text is sent.
func (s *Stream) beyond() []scanner.Finding {
	if s.told {
		return nil
	}
	s.told = true
	return []scanner.Finding{s.c.PartlyScanned()}
}
