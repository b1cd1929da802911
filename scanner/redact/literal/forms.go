package literal

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// MaxForm is how much of a form is compared before it is taken for the value, and so what is
// held back for it.
const MaxForm = 64

// Forms are the ways in which known values may be written. A nil *Forms has none. The last two of eight bytes of a
// text tell how many bytes further the first eight of a form may end (Wu and Manber, 1994): most are never looked at.
type Forms struct {
	shift  [1 << 10]uint8      // by two bytes, see pair
	byHead map[uint64][]string // forms by their first eight bytes, the longest first
	heads  map[string]struct{} // all beginnings of forms of less than eight bytes
	tails  [256]uint8          // by the last byte of such a beginning: bits of the lengths it may have
}

// MinForm is the length of the shortest form, and how many bytes are looked at together.
const MinForm = 8

func pair(a, b byte) uint { return (uint(a)*37 ^ uint(b)<<2) & (1<<10 - 1) }

// Clone returns a copy that forms can be added to.
func (f *Forms) Clone() *Forms {
	c := &Forms{byHead: make(map[uint64][]string), heads: make(map[string]struct{})}
	for i := range c.shift {
		c.shift[i] = MinForm - 1
	}
	if f != nil {
		c.shift, c.tails = f.shift, f.tails
		for head, list := range f.byHead {
			c.byHead[head] = slices.Clone(list)
		}
		for head := range f.heads {
			c.heads[head] = struct{}{}
		}
	}
	return c
}

// Add adds the forms of a value.
func (f *Forms) Add(value string) {
	if f.byHead == nil {
		*f = *f.Clone()
	}
	for _, form := range formsOf(value) {
		if len(form) < MinForm {
			continue
		}
		head := binary.BigEndian.Uint64([]byte(form))
		if slices.Contains(f.byHead[head], form) {
			continue
		}
		list := append(f.byHead[head], form)
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
		f.byHead[head] = list
		for n := 1; n < MinForm; n++ {
			at := pair(form[n-1], form[n])
			f.shift[at] = min(f.shift[at], uint8(MinForm-1-n))
			f.heads[form[:n]] = struct{}{}
			f.tails[form[n-1]] |= 1 << n
		}
	}
}

// formsOf returns the value as it is, as it is escaped in JSON and URLs, and what base64 that has
// it at any of the three offsets has for sure.
func formsOf(value string) []string {
	all := []string{value}
	var escaped bytes.Buffer
	enc := json.NewEncoder(&escaped)
	for _, html := range []bool{true, false} {
		escaped.Reset()
		enc.SetEscapeHTML(html)
		if enc.Encode(value) == nil {
			s := strings.TrimSuffix(escaped.String(), "\n")
			s = s[1 : len(s)-1]
			all = append(all, s, strings.ReplaceAll(s, "/", `\/`))
		}
	}
	for _, s := range []string{url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(url.QueryEscape(value), "+", "%20")} {
		all = append(all, s, lowerEscapes(s))
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			code := enc.EncodeToString(append(make([]byte, offset), value...))
			all = append(all, code[(offset*8+5)/6:(offset+len(value))*8/6])
		}
	}
	return all
}

// lowerEscapes writes the percent escapes in lower case.
func lowerEscapes(s string) string {
	p := []byte(s)
	for i := 0; i+2 < len(p); i++ {
		if p[i] == '%' {
			p[i+1], p[i+2] = text.Lower(p[i+1]), text.Lower(p[i+2])
		}
	}
	return string(p)
}

// Heads reports whether p begins with a form, or with as much of one as p has and at least MinForm bytes.
func (f *Forms) Heads(p []byte) bool {
	if len(p) < MinForm {
		return false
	}
	at, _ := f.Find(p[:min(len(p), MaxForm)], false)
	return at == 0
}

// Find returns the place of the first form in p. When more bytes are needed to know, form is
// empty and at is where it may begin; at is len(p) when there is none.
func (f *Forms) Find(p []byte, eof bool) (at int, form string) {
	for i := MinForm - 1; i < len(p); {
		if n := f.shift[pair(p[i-1], p[i])]; n > 0 {
			i += int(n)
			continue
		}
		at := i - MinForm + 1
		i++
		w := binary.BigEndian.Uint64(p[at:])
		for _, form := range f.byHead[w] {
			short := form[:min(len(form), MaxForm)]
			switch n := min(len(short), len(p)-at); {
			case string(p[at:at+n]) != short[:n]:
			case n == len(short):
				return at, form
			case !eof:
				return at, ""
			}
		}
	}
	if eof || len(p) == 0 {
		return len(p), ""
	}
	for n := min(MinForm-1, len(p)); n > 0; n-- {
		if f.tails[p[len(p)-1]]&(1<<n) == 0 {
			continue
		}
		if _, ok := f.heads[string(p[len(p)-n:])]; ok {
			return len(p) - n, ""
		}
	}
	return len(p), ""
}

// Clean reports whether p has no form, nor the beginning of one at its end.
func (f *Forms) Clean(p []byte) bool {
	if f == nil {
		return true
	}
	at, _ := f.Find(p, false)
	return at == len(p)
}
