package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

const (
	userColumns  = `u.name, u.role, u.created, u.expires, u.disabled, u.source, u.issuer, u.subject, u.valid_after, u.last_login, u.removed`
	tokenColumns = `t.id, t.user, t.name, t.role, t.created, t.expires, t.revoked, t.last_used`

	sessionColumns = `s.hash, s.id, s.user, s.kind, s.source, s.token, s.role, s.member_of, s.issued,
		s.created, s.expires, s.ended, s.last_used, s.address, s.agent, s.issuer, s.subject, s.sid, s.due, s.secrets`
)

// ofUser is where userColumns are scanned to.
func ofUser(u *identity.User) []any {
	return []any{
		&u.Name, &u.Role,
		stamp{&u.Created},
		stamp{&u.Expires},
		&u.Disabled,
		&u.Source, &u.Issuer, &u.Subject,
		stamp{&u.ValidAfter},
		stamp{&u.LastLogin},
		stamp{&u.Removed},
	}
}

// ofToken is where tokenColumns are scanned to; a session may have been opened without one.
func ofToken(t *identity.Token) []any {
	return []any{
		optional{&t.ID},
		optional{&t.User},
		optional{&t.Name},
		optional{(*string)(&t.Role)},
		stamp{&t.Created},
		stamp{&t.Expires},
		stamp{&t.Revoked},
		stamp{&t.LastUsed},
	}
}

// ofSession is where sessionColumns are scanned to.
func ofSession(s *identity.StoredSession) []any {
	u := &s.Upstream
	return []any{
		hash{&s.Hash},
		&s.ID, &s.User, &s.Kind, &s.Source,
		optional{&s.TokenID},
		&s.Role,
		list{&s.Groups},
		stamp{&s.Issued},
		stamp{&s.Created},
		stamp{&s.Expires},
		stamp{&s.Ended},
		stamp{&s.LastUsed},
		&s.Address, &s.Agent,
		&u.Issuer, &u.Subject, &u.SID,
		stamp{&u.Due},
		&u.Secrets,
	}
}

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

// hash scans a hash.
type hash struct{ to *identity.Hash }

// Scan implements sql.Scanner.
func (h hash) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(h.to) {
		return fmt.Errorf("reading a hash: got %T of another length than %d", v, len(h.to))
	}
	copy(h.to[:], b)
	return nil
}

// list scans a JSON list; an empty one is nil.
type list struct{ to *[]string }

// Scan implements sql.Scanner.
func (l list) Scan(v any) error {
	doc, ok := v.(string)
	if !ok {
		return fmt.Errorf("reading a list: got %T, want text", v)
	}
	if doc == "[]" {
		*l.to = nil
		return nil
	}
	return json.Unmarshal([]byte(doc), l.to)
}

// listText is the database's form of a list.
func listText(l []string) (string, error) {
	if len(l) == 0 {
		return "[]", nil
	}
	doc, err := json.Marshal(l)
	return string(doc), err
}
