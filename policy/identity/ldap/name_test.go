package ldap

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"
)

func TestPlainName(t *testing.T) {
	for name, want := range map[string]bool{
		"alice": true, "o'hara, (x)*": true, "Zoë": true, "李小龙": true, "a b": true, "a@b.example": true,
		"": false, " alice": false, "alice ": false, "a  b": false, "ali\u00adce": false, "alice\u200b": false, "alice\x00": false,
		"ａｌｉｃｅ": false, "ﬁona": false, "Zoe\u0308": false, "ali\nce": false, "\xff": false, "a\u00a0b": false, "a\u2060b": false,
	} {
		if got := plainName(name); got != want {
			t.Errorf("plainName(%q): got %v, want %v", name, got, want)
		}
	}
}

// Whatever a user types stays one value: of the filter, and of the name.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"alice", "*", "x)(uid=*", "x)(|(uid=alice)", `\2a`, "a,dc=b", "a+cn=b", " a", "#a", `a\`, "\x00", "%u", "%d", "a\n", "=", `"a"`, "\xff", "é "} {
		f.Add(seed)
	}
	const pattern filter = "(&(uid=%u)(|(mail=%u)(member=%d)))"
	users, err := parseTemplate("uid=%u,ou=people,dc=example")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, user string) {
		if !plainName(user) {
			return
		}
		packet, err := goldap.CompileFilter(pattern.with(user, user))
		if err != nil {
			t.Fatalf("the filter of %q: %v", user, err)
		}
		want := []string{"uid", user, "mail", user, "member", user}
		if got := leaves(packet); !slices.Equal(got, want) {
			t.Errorf("the filter of %q has the values %q, want %q", user, got, want)
		}
		dn, err := goldap.ParseDN(users.with(user))
		if err != nil {
			t.Fatalf("the name of %q: %v", user, err)
		}
		if len(dn.RDNs) != 3 || len(dn.RDNs[0].Attributes) != 1 || dn.RDNs[0].Attributes[0].Value != user {
			t.Errorf("the name of %q became %v", user, dn)
		}
	})
}

func leaves(p *ber.Packet) []string {
	if len(p.Children) == 0 {
		return []string{p.Data.String()}
	}
	var all []string
	for _, c := range p.Children {
		all = append(all, leaves(c)...)
	}
	return all
}

// A GUID is found again by what was made of it.
func TestGUID(t *testing.T) {
	raw := []byte("\x78\x56\x34\x12\xbc\x9a\xf0\xde\x01\x02\x03\x04\x05\x06\x07\x08")
	const text = "12345678-9abc-def0-0102-030405060708"
	got, err := decodeSubject("ObjectGuid", raw)
	if got != text || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
	filter, err := encodeSubject("objectGUID", text)
	if want := `\78\56\34\12\bc\9a\f0\de\01\02\03\04\05\06\07\08`; filter != want || err != nil {
		t.Errorf("got %q, %v, want %q", filter, err, want)
	}
	for _, bad := range []string{"", "*", text + "00"} {
		if got, err := encodeSubject("objectGUID", bad); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
	if got, err := decodeSubject("objectGUID", raw[1:]); err == nil {
		t.Errorf("15 bytes became %q", got)
	}
	if got, err := decodeSubject("objectSid", []byte("\x01\x05\x00")); err == nil {
		t.Errorf("a binary id became %q", got)
	}
}

func TestAccountState(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name      string
		attribute string
		value     string
		live      bool
	}{
		{"nothing", "cn", "x", true},
		{"enabled", "userAccountControl", "512", true},
		{"disabled", "userAccountControl", "514", false},
		{"not locked", "nsAccountLock", "FALSE", true},
		{"locked", "nsAccountLock", "TRUE", false},
		{"locked by failures", "pwdAccountLockedTime", "20261120120000Z", true},
		{"locked by an admin", "pwdAccountLockedTime", "000001010000Z", false},
		{"never expires", "accountExpires", "9223372036854775807", true},
		{"never expires either", "accountExpires", "0", true},
		{"expires later", "accountExpires", "134500000000000000", true}, // 2027
		{"expired", "accountExpires", "133500000000000000", false},      // 2024
	} {
		l := &look{Directory: &Directory{}}
		l.settings.NameAttribute, l.settings.IDAttribute = "uid", "entryUUID"
		e, err := l.parse(goldap.NewEntry("uid=a", map[string][]string{"uid": {"a"}, "entryUUID": {"1"}, tt.attribute: {tt.value}}))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.live(now); (err == nil) != tt.live {
			t.Errorf("%s: got %v, want live %v", tt.name, err, tt.live)
		}
	}
}

func TestRanges(t *testing.T) {
	e := goldap.NewEntry("uid=a", map[string][]string{"MEMBEROF;range=0-1": {"cn=a", "cn=b"}, "memberOfOther": {"cn=c"}})
	if got := values(e, memberOf); !slices.Equal(got, []string{"cn=a", "cn=b"}) {
		t.Errorf("got %v", got)
	}
}

func TestClosure(t *testing.T) {
	calls := 0
	got, err := closure([]string{"a", "A"}, func(frontier []string) ([]string, error) {
		calls++
		return map[string][]string{"a": {"b", "B"}, "b": {"a", "c"}, "c": nil}[frontier[0]], nil
	})
	if !slices.Equal(got, []string{"a", "b", "c"}) || err != nil || calls != 3 {
		t.Errorf("got %v, %v after %d questions", got, err, calls)
	}
	n := 0
	_, err = closure([]string{"x"}, func([]string) ([]string, error) {
		n++
		return []string{time.Unix(int64(n), 0).String()}, nil
	})
	if err != errTooManyGroups || n > maxGroups {
		t.Errorf("an endless chain: got %v after %d questions", err, n)
	}
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache[int, int](time.Minute)
		for i := range cacheSize + 100 {
			c.put(i, i)
		}
		if len(c.m) != cacheSize {
			t.Errorf("got %d answers, want %d", len(c.m), cacheSize)
		}
		last := cacheSize + 99
		if v, ok := c.get(last); !ok || v != last {
			t.Errorf("got %v, %v for the newest answer", v, ok)
		}
		time.Sleep(time.Minute)
		if _, ok := c.get(last); ok {
			t.Error("an answer is remembered for ever")
		}
		c.put(-1, 1)
		c.put(-2, 2)
		if len(c.m) != 2 {
			t.Errorf("got %d answers after all others were over, want 2", len(c.m))
		}
		never := newCache[int, int](0)
		never.put(1, 1)
		if _, ok := never.get(1); ok {
			t.Error("an answer is remembered for no time")
		}
	})
}
