package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/audit"
)

func scanEvent(rows *sql.Rows) (e audit.Event, err error) {
	var when, reasons, findings, labels, input maybe
	err = rows.Scan(&e.Seq, &when, &e.Node, &e.Type, &e.Hash,
		(*maybe)(&e.User), (*maybe)(&e.Role), (*maybe)(&e.OnBehalfOf), (*maybe)(&e.Address), (*maybe)(&e.TokenID), (*maybe)(&e.RequestID),
		(*maybe)(&e.Run), (*maybe)(&e.Thread), (*maybe)(&e.Agent),
		(*maybe)(&e.Call), (*maybe)(&e.Tool), (*maybe)(&e.Action), (*maybe)(&e.Input), (*maybe)(&e.Decision), (*maybe)(&e.Rule),
		&reasons, (*maybe)(&e.PolicyHash), &input, (*maybe)(&e.Digest),
		(*maybe)(&e.Output), (*float)(&e.Duration), (*maybe)(&e.Error), (*maybe)(&e.Traceback), (*maybe)(&e.Status),
		(*maybe)(&e.Method), (*maybe)(&e.Path), (*whole)(&e.Code),
		&findings, &labels)
	if err != nil {
		return e, err
	}
	if input != "" {
		e.PolicyInput = json.RawMessage(input)
	}
	if findings != "" {
		e.Findings = json.RawMessage(findings)
	}
	if e.Time, err = time.Parse(audit.TimeFormat, string(when)); err != nil {
		return e, fmt.Errorf("event %d: time: %w", e.Seq, err)
	}
	if e.Reasons, err = parseList(reasons); err != nil {
		return e, fmt.Errorf("event %d: reasons: %w", e.Seq, err)
	}
	if e.Labels, err = parseList(labels); err != nil {
		return e, fmt.Errorf("event %d: labels: %w", e.Seq, err)
	}
	return e, nil
}

func scanRun(rows *sql.Rows) (r audit.RunRecord, err error) {
	var when maybe
	err = rows.Scan(&r.Seq, &when, &r.Node, &r.Run, (*maybe)(&r.Thread), (*maybe)(&r.Agent), (*maybe)(&r.Model), (*maybe)(&r.User),
		&r.PromptTokens, &r.CompletionTokens, &r.TotalTokens, &r.Estimated, (*float)(&r.Duration), &r.Hash)
	if err != nil {
		return r, err
	}
	if r.Time, err = time.Parse(audit.TimeFormat, string(when)); err != nil {
		return r, fmt.Errorf("run record %d: time: %w", r.Seq, err)
	}
	return r, nil
}

func scanOver(rows *sql.Rows) (o audit.Over, err error) {
	var when maybe
	if err = rows.Scan(&o.Run, &when, &o.Seq); err != nil {
		return o, err
	}
	if o.Time, err = time.Parse(audit.TimeFormat, string(when)); err != nil {
		return o, fmt.Errorf("event %d: time: %w", o.Seq, err)
	}
	return o, nil
}

func parseList(s maybe) (l []string, err error) {
	if s == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(s), &l)
	return l, err
}

// maybe scans text, NULL as the empty string.
type maybe string

// Scan implements sql.Scanner.
func (m *maybe) Scan(v any) error {
	var s sql.Null[string]
	if err := s.Scan(v); err != nil {
		return err
	}
	*m = maybe(s.V)
	return nil
}

// float and whole scan numbers, NULL as 0.
type (
	float float64
	whole int
)

// Scan implements sql.Scanner.
func (f *float) Scan(v any) error {
	var n sql.Null[float64]
	if err := n.Scan(v); err != nil {
		return err
	}
	*f = float(n.V)
	return nil
}

// Scan implements sql.Scanner.
func (w *whole) Scan(v any) error {
	var n sql.Null[int]
	if err := n.Scan(v); err != nil {
		return err
	}
	*w = whole(n.V)
	return nil
}
