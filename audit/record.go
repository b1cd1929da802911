package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gowebpki/jcs"
)

// TimeFormat is the one form of a time in the log: in records and in what stores keep.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// CanonicalRecord returns the bytes whose SHA-256 is the event's Hash: the RFC 8785 (JCS) form of a
// JSON object that has the event's non-empty columns as members, seq and hash left out. The event
// must be one that was recorded, or read back.
func CanonicalRecord(e Event) []byte { return appendEvent(nil, &e, false) }

// Verify recomputes the hash of an event that was read back and returns an error when it differs:
// the row was changed after it was written.
func Verify(e Event) error {
	if got := sum(CanonicalRecord(e)); got != e.Hash {
		return fmt.Errorf("verifying event %d: its hash is %q and its columns give %q: %w", e.Seq, e.Hash, got, ErrChanged)
	}
	return nil
}

func verifyRun(r RunRecord) error {
	if got := sum(appendRun(nil, &r, false)); got != r.Hash {
		return fmt.Errorf("verifying run record %d: its hash is %q and its columns give %q: %w", r.Seq, r.Hash, got, ErrChanged)
	}
	return nil
}

func sum(record []byte) string {
	h := sha256.Sum256(record)
	var text [2 * len(h)]byte
	hex.Encode(text[:], h[:])
	return string(text[:])
}

// appendEvent writes the members in the order of their names, as RFC 8785 section 3.2.3 wants them;
// stored adds seq and hash.
func appendEvent(b []byte, e *Event, stored bool) []byte {
	o := object{b: append(b, '{')}
	o.text("action", e.Action)
	o.text("address", e.Address)
	o.text("agent", e.Agent)
	o.text("call", e.Call)
	o.integer("code", int64(e.Code))
	o.text("decision", e.Decision)
	o.text("digest", e.Digest)
	o.number("duration", e.Duration)
	o.text("error", e.Error)
	o.raw("findings", string(e.Findings))
	if stored {
		o.text("hash", e.Hash)
	}
	o.text("input", e.Input)
	o.list("labels", e.Labels)
	o.text("method", e.Method)
	o.text("node", e.Node)
	o.text("on_behalf_of", e.OnBehalfOf)
	o.text("output", e.Output)
	o.text("path", e.Path)
	o.text("policy_hash", e.PolicyHash)
	o.raw("policy_input", string(e.PolicyInput))
	o.list("reasons", e.Reasons)
	o.text("request_id", e.RequestID)
	o.text("role", e.Role)
	o.text("rule", e.Rule)
	o.text("run", e.Run)
	if stored {
		o.integer("seq", e.Seq)
	}
	o.text("status", e.Status)
	o.text("thread", e.Thread)
	o.time("time", e.Time)
	o.text("token_id", e.TokenID)
	o.text("tool", e.Tool)
	o.text("traceback", e.Traceback)
	o.text("type", e.Type)
	o.text("user", e.User)
	return append(o.b, '}')
}

func appendRun(b []byte, r *RunRecord, stored bool) []byte {
	o := object{b: append(b, '{')}
	o.text("agent", r.Agent)
	o.raw("completion_tokens", strconv.FormatInt(r.CompletionTokens, 10))
	o.number("duration", r.Duration)
	o.raw("estimated", strconv.Itoa(btoi(r.Estimated)))
	if stored {
		o.text("hash", r.Hash)
	}
	o.text("model", r.Model)
	o.text("node", r.Node)
	o.raw("prompt_tokens", strconv.FormatInt(r.PromptTokens, 10))
	o.text("run", r.Run)
	if stored {
		o.integer("seq", r.Seq)
	}
	o.text("thread", r.Thread)
	o.time("time", r.Time)
	o.raw("total_tokens", strconv.FormatInt(r.TotalTokens, 10))
	o.text("user", r.User)
	return append(o.b, '}')
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// object appends the members of a JSON object. Empty values are left out.
type object struct {
	b    []byte
	more bool
}

func (o *object) name(name string) {
	if o.more {
		o.b = append(o.b, ',')
	}
	o.more = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) text(name, s string) {
	if s != "" {
		o.name(name)
		o.b = appendString(o.b, s)
	}
}

func (o *object) raw(name, json string) {
	if json != "" {
		o.name(name)
		o.b = append(o.b, json...)
	}
}

func (o *object) list(name string, l []string) {
	if len(l) > 0 {
		o.name(name)
		o.b = appendList(o.b, l)
	}
}

func (o *object) integer(name string, n int64) {
	if n != 0 {
		o.name(name)
		o.b = strconv.AppendInt(o.b, n, 10)
	}
}

func (o *object) number(name string, f float64) {
	if s, err := jcs.NumberToJSON(f); f != 0 && err == nil { // NaN and infinities never get this far
		o.raw(name, s)
	}
}

func (o *object) time(name string, t time.Time) {
	o.name(name)
	o.b = append(o.b, '"')
	o.b = t.AppendFormat(o.b, TimeFormat)
	o.b = append(o.b, '"')
}

// FormatList returns the one form of a list in the log: a JSON array as in RFC 8785.
func FormatList(l []string) string { return string(appendList(nil, l)) }

func appendList(b []byte, l []string) []byte {
	b = append(b, '[')
	for i, s := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// appendString quotes s as RFC 8785 section 3.2.2.2 says: only the quote, the backslash and control
// characters are escaped. s is valid UTF-8.
func appendString(b []byte, s string) []byte {
	const hexadecimal = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\f':
			b = append(b, '\\', 'f')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// micro rounds seconds to the microsecond, so that rows stay readable.
func micro(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
