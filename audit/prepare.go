package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gowebpki/jcs"

	"github.com/svc-gateway/svc/scanner/redact"
)

// prepare turns an event into the record that is stored: checked, cleaned, redacted and hashed.
// It never changes what the event's slices hold, which may be the caller's.
func prepare(e *Event, node string, now time.Time) error {
	switch {
	case e.Type == "":
		return errors.New("recording an event: type is empty, set one of the audit types")
	case strings.HasPrefix(e.Type, "tool.") && (e.Run == "" || e.Call == ""):
		return fmt.Errorf("recording a %s event: run and call are needed, got %q and %q", e.Type, e.Run, e.Call)
	case !validSeconds(e.Duration):
		return fmt.Errorf("recording a %s event: duration is %v, want seconds", e.Type, e.Duration)
	}
	e.Seq, e.Node = 0, node
	e.Time = stamp(e.Time, now)
	e.Duration = micro(e.Duration)
	for _, s := range []*string{
		&e.Type, &e.Node, &e.Run, &e.Thread, &e.Agent, &e.Role, &e.OnBehalfOf, &e.Address, &e.TokenID, &e.RequestID, &e.Call,
		&e.Action, &e.Decision, &e.Rule, &e.PolicyHash, &e.Digest, &e.Status, &e.Method,
	} {
		*s = cut(clean(*s), maxWord)
	}
	// The words of clients, models and tools. A tool's name is one: models invent names.
	for _, s := range []*string{&e.User, &e.Tool} {
		*s = redacted(*s, maxWord)
	}
	e.Path = redacted(e.Path, maxPath)
	for _, s := range []*string{&e.Input, &e.Output, &e.Error, &e.Traceback} {
		*s = redacted(*s, whole)
	}
	e.Reasons = each(e.Reasons, func(s string) string { return redacted(s, maxReason) })
	e.Labels = each(e.Labels, clean)
	var err error
	if e.Findings, err = prepareJSON(e.Findings); err != nil {
		return fmt.Errorf("recording a %s event: findings are not JSON: %w", e.Type, err)
	}
	if e.PolicyInput, err = prepareJSON(e.PolicyInput); err != nil {
		return fmt.Errorf("recording a %s event: the policy's input is not JSON: %w", e.Type, err)
	}
	scratch := buffers.Get().(*[]byte)
	*scratch = appendEvent((*scratch)[:0], e, false)
	e.Hash = sum(*scratch)
	if cap(*scratch) <= maxBuffer {
		buffers.Put(scratch)
	}
	return nil
}

// buffers hold records while they are hashed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 16 << 10 // bytes of one that is kept

func prepareRun(r *RunRecord, node string, now time.Time) error {
	switch {
	case r.Run == "":
		return errors.New("recording a model's turn: run is empty")
	case r.PromptTokens < 0 || r.CompletionTokens < 0 || r.TotalTokens < 0:
		return fmt.Errorf("recording a model's turn: token counts are negative: %d, %d, %d", r.PromptTokens, r.CompletionTokens, r.TotalTokens)
	case !validSeconds(r.Duration):
		return fmt.Errorf("recording a model's turn: duration is %v, want seconds", r.Duration)
	}
	r.Seq, r.Node = 0, node
	r.Time = stamp(r.Time, now)
	r.Duration = micro(r.Duration)
	for _, s := range []*string{&r.Node, &r.Run, &r.Thread, &r.Agent, &r.Model, &r.User} {
		*s = clean(*s)
	}
	r.Hash = sum(appendRun(make([]byte, 0, 512), r, false))
	return nil
}

func validSeconds(f float64) bool { return f >= 0 && !math.IsInf(f, 1) } // NaN is not >= 0

func stamp(t, now time.Time) time.Time {
	if t.IsZero() {
		t = now
	}
	return t.UTC().Truncate(time.Millisecond)
}

// clean makes text that every store keeps as it is: PostgreSQL refuses NUL and invalid UTF-8, and
// sqlite3 prints text up to the first NUL only.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

func each(l []string, f func(string) string) []string {
	if len(l) == 0 {
		return nil
	}
	out := make([]string, len(l))
	for i, s := range l {
		out[i] = f(s)
	}
	return out
}

func prepareJSON(f json.RawMessage) (json.RawMessage, error) {
	switch string(bytes.TrimSpace(f)) {
	case "", "null", "[]":
		return nil, nil
	}
	f = bytes.ReplaceAll(f, []byte(`\u0000`), []byte(`\ufffd`)) // see clean
	if !json.Valid(f) {
		return nil, errors.New("invalid JSON")
	}
	return jcs.Transform(redact.JSON([]byte(clean(string(f)))))
}
