package identity

import (
	"database/sql"
	"fmt"
	"time"
)

// timeLayout is how times stand in the database.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// text is the database's form of a time; nil (NULL) for zero.
func text(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(timeLayout)
}

// stamp scans a time in the database's form; NULL is zero.
type stamp struct{ t *time.Time }

// Scan implements sql.Scanner.
func (s stamp) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*s.t = time.Time{}
		return nil
	case string:
		t, err := time.Parse(timeLayout, v)
		*s.t = t
		return err
	}
	return fmt.Errorf("reading a time: got %T, want text", v)
}

// orNull is the database's form of a text that may be missing.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// optional scans a text; NULL is empty.
type optional struct{ s *string }

// Scan implements sql.Scanner.
func (o optional) Scan(v any) error {
	var n sql.NullString
	err := n.Scan(v)
	*o.s = n.String
	return err
}
