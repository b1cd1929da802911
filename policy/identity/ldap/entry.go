package ldap

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	goldap "github.com/go-ldap/ldap/v3"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// Attributes that say that an account has an end or is locked by an admin.
const (
	userAccountControl = "userAccountControl"   // Active Directory: flags
	accountExpires     = "accountExpires"       // Active Directory: 100 ns since 1601
	nsAccountLock      = "nsAccountLock"        // 389 Directory Server, FreeIPA
	pwdLocked          = "pwdAccountLockedTime" // draft-behera-ldap-password-policy, 5.3.3
	memberOf           = "memberOf"
	objectGUID         = "objectGUID" // binary
)

// entry is what the directory has of a user.
type entry struct {
	dn, subject, name string
	memberOf          []string
	disabled          string    // the attribute that says so
	expires           time.Time // zero: never
}

func (l *look) attributes() []string {
	all := []string{l.settings.NameAttribute, l.settings.IDAttribute, userAccountControl, accountExpires, nsAccountLock, pwdLocked}
	if l.settings.Groups == settings.GroupsMemberOf {
		all = append(all, memberOf)
	}
	return all
}

// named is the entry of a user by name.
func (l *look) named(c *conn, user string) (e entry, err error) {
	if l.settings.UserTemplate != "" {
		return l.entry(c, l.template.with(user))
	}
	err = l.step("entry", func() (string, error) {
		e, err = l.byName(c, user)
		return e.describe(), err
	})
	return e, err
}

// byName searches for a user. It is [identity.ErrCredentials] unless there is exactly one.
func (l *look) byName(c *conn, user string) (entry, error) {
	return l.one(c, l.filter.with(user, ""))
}

// bySubject searches for a user by what identifies them for ever, who must still be one whom the
// filter finds under some name.
func (l *look) bySubject(c *conn, subject string) (entry, error) {
	value, err := encodeSubject(l.settings.IDAttribute, subject)
	if err != nil {
		return entry{}, fmt.Errorf("%w: %w", identity.ErrCredentials, err)
	}
	return l.one(c, "(&("+l.settings.IDAttribute+"="+value+")"+l.filter.withAnyUser()+")")
}

func (l *look) one(c *conn, filter string) (entry, error) {
	found, err := c.search(l.base, goldap.ScopeWholeSubtree, filter, 2, l.attributes()...)
	switch {
	case goldap.IsErrorWithCode(err, goldap.LDAPResultSizeLimitExceeded) || len(found) > 1:
		return entry{}, fmt.Errorf("%w: several entries below %s match %s", identity.ErrCredentials, l.base, filter)
	case err != nil:
		return entry{}, fmt.Errorf("searching below %s: %w", l.base, err)
	case len(found) == 0:
		return entry{}, fmt.Errorf("%w: no entry below %s matches %s", identity.ErrCredentials, l.base, filter)
	}
	return l.parse(found[0])
}

// entry reads the entry with the DN.
func (l *look) entry(c *conn, dn string) (e entry, err error) {
	err = l.step("entry", func() (string, error) {
		found, err := c.read(dn, l.attributes()...)
		if err == nil && found == nil {
			err = fmt.Errorf("%s may not read their own entry", dn)
		}
		if err != nil {
			return "", err
		}
		e, err = l.parse(found)
		return e.describe(), err
	})
	return e, err
}

func (l *look) parse(found *goldap.Entry) (entry, error) {
	e := entry{dn: found.DN, name: found.GetEqualFoldAttributeValue(l.settings.NameAttribute), memberOf: values(found, memberOf)}
	if e.name == "" {
		return e, fmt.Errorf("%s has no attribute %s: set ldap.name_attribute to the one with the user name", e.dn, l.settings.NameAttribute)
	}
	raw := found.GetEqualFoldRawAttributeValue(l.settings.IDAttribute)
	if len(raw) == 0 {
		return e, fmt.Errorf("%s has no attribute %s: set ldap.id_attribute to one that never changes, such as entryUUID or objectGUID", e.dn, l.settings.IDAttribute)
	}
	var err error
	if e.subject, err = decodeSubject(l.settings.IDAttribute, raw); err != nil {
		return e, fmt.Errorf("%s of %s: %w", l.settings.IDAttribute, e.dn, err)
	}
	flags, _ := strconv.ParseInt(found.GetEqualFoldAttributeValue(userAccountControl), 10, 64)
	switch {
	case flags&2 != 0: // ACCOUNTDISABLE
		e.disabled = userAccountControl
	case strings.EqualFold(found.GetEqualFoldAttributeValue(nsAccountLock), "true"):
		e.disabled = nsAccountLock
	case found.GetEqualFoldAttributeValue(pwdLocked) == "000001010000Z": // by an admin, for good
		e.disabled = pwdLocked
	}
	e.expires = fileTime(found.GetEqualFoldAttributeValue(accountExpires))
	return e, nil
}

// values are those of an attribute that a server may send in ranges (MS-ADTS, 3.1.1.3.1.3.3):
// what goes beyond the first is missing, which can only make a role weaker.
func values(found *goldap.Entry, attribute string) []string {
	var all []string
	for _, a := range found.Attributes {
		name, _, _ := strings.Cut(a.Name, ";")
		if strings.EqualFold(name, attribute) {
			all = append(all, a.Values...)
		}
	}
	return all
}

// live returns nil while the account may be used.
func (e entry) live(now time.Time) error {
	if e.disabled != "" {
		return fmt.Errorf("%w: %s says that the account is disabled", identity.ErrCredentials, e.disabled)
	}
	if !e.expires.IsZero() && !now.Before(e.expires) {
		return fmt.Errorf("%w: the account has expired", identity.ErrCredentials)
	}
	return nil
}

func (e entry) describe() string {
	if e.dn == "" {
		return ""
	}
	return fmt.Sprintf("%s, name %s, id %s", e.dn, e.name, e.subject)
}

// fileTime reads a time of Active Directory, of which two values mean never.
func fileTime(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n == 1<<63-1 {
		return time.Time{}
	}
	const toUnix = 11644473600 // seconds from 1601 to 1970
	return time.Unix(n/1e7-toUnix, n%1e7*100).UTC()
}

// decodeSubject makes a text of what identifies a user. A GUID is written as its owners write it
// (MS-DTYP, 2.3.4: the first three of its fields are little-endian).
func decodeSubject(attribute string, raw []byte) (string, error) {
	if strings.EqualFold(attribute, objectGUID) {
		if len(raw) != 16 {
			return "", fmt.Errorf("%d bytes are not a GUID", len(raw))
		}
		b := swap(raw)
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
	}
	if !utf8.Valid(raw) || slices.Contains(raw, 0) {
		return "", fmt.Errorf("the value is binary: use an attribute with text, or objectGUID")
	}
	return string(raw), nil
}

// encodeSubject is the other direction, for a filter.
func encodeSubject(attribute, subject string) (string, error) {
	if !strings.EqualFold(attribute, objectGUID) {
		return goldap.EscapeFilter(subject), nil
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(subject, "-", ""))
	if err != nil || len(raw) != 16 {
		return "", fmt.Errorf("%q is not a GUID", subject)
	}
	var s strings.Builder
	for _, b := range swap(raw) {
		fmt.Fprintf(&s, `\%02x`, b)
	}
	return s.String(), nil
}

// swap turns the bytes of a GUID's first fields round.
func swap(raw []byte) []byte {
	b := slices.Clone(raw)
	binary.BigEndian.PutUint32(b, binary.LittleEndian.Uint32(raw))
	binary.BigEndian.PutUint16(b[4:], binary.LittleEndian.Uint16(raw[4:]))
	binary.BigEndian.PutUint16(b[6:], binary.LittleEndian.Uint16(raw[6:]))
	return b
}
