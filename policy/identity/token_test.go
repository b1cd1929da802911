package identity

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
)

func TestTokenForm(t *testing.T) {
	seen := map[Secret]bool{}
	for range 1000 {
		s, h := newToken()
		if len(s) != 4+43+6 || !IsToken(s.Reveal()) || seen[s] || h != sha256.Sum256([]byte(s)) {
			t.Fatalf("got token %q", s.Reveal())
		}
		seen[s] = true
		if got, err := hashToken(s.Reveal()); err != nil || got != h {
			t.Fatalf("%q: got %v, %v", s.Reveal(), got, err)
		}
		if id := h.id(); len(id) != 12 || strings.Contains(s.Reveal(), id) {
			t.Fatalf("got id %q", id)
		}
	}
}

// The format is a promise to whoever searches for leaked tokens: it must never change. The
// values were made by another program.
func TestTokenGolden(t *testing.T) {
	var zero, ones, count [32]byte
	for i := range ones {
		ones[i], count[i] = 0xff, byte(i)
	}
	for _, tt := range []struct {
		random [32]byte
		want   string
	}{
		{zero, "svc_00000000000000000000000000000000000000000000JB6dd"},
		{ones, "svc_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp13QnS9Z"},
		{count, "svc_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf18Jf2X"},
	} {
		if s, _ := formatToken(tt.random); s.Reveal() != tt.want {
			t.Errorf("%x: got %s, want %s", tt.random, s.Reveal(), tt.want)
		}
	}
}

// One wrong character, and two neighbours swapped, are always noticed.
func TestChecksumFindsTypos(t *testing.T) {
	s, _ := newToken()
	good := s.Reveal()
	for i := len(tokenPrefix); i < len(good); i++ {
		for _, c := range []byte(base62) {
			bad := good[:i] + string(c) + good[i+1:]
			if _, err := hashToken(bad); (err == nil) != (bad == good) {
				t.Fatalf("%q for %q: got %v", bad, good, err)
			}
		}
		if i > len(tokenPrefix) && good[i] != good[i-1] {
			bad := good[:i-1] + good[i:i+1] + good[i-1:i] + good[i+1:]
			if _, err := hashToken(bad); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%q for %q: got %v", bad, good, err)
			}
		}
	}
}

func FuzzHashToken(f *testing.F) {
	good, _ := formatToken([32]byte{1})
	f.Add(good.Reveal())
	f.Add("svc_")
	f.Add("")
	f.Add(strings.Repeat("0", tokenLen))
	f.Add("svc_" + strings.Repeat("é", 25))
	f.Fuzz(func(t *testing.T, s string) {
		h, err := hashToken(s)
		if err != nil && (!errors.Is(err, ErrMalformed) || h != Hash{}) {
			t.Fatalf("%q: got %v, %v", s, h, err)
		}
		if err == nil && (!IsToken(s) || h != sha256.Sum256([]byte(s))) {
			t.Fatalf("%q: accepted", s)
		}
		if IsToken(s) && (len(s) != tokenLen || strings.Trim(s[4:], base62) != "") {
			t.Fatalf("%q: has not the form of a token", s)
		}
		if IsToken(s) && !claimsToBeToken(s) {
			t.Fatalf("%q: has the form but does not claim it", s)
		}
	})
}
