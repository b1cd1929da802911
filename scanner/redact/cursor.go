package redact

import "github.com/svc-gateway/svc/scanner/internal/text"

// limits of what is looked at before a decision, and so of what is held back.
const (
	maxHead = 1280 // bytes after a mark
	maxRun  = 32   // punctuation that may close a value
	maxName = 40   // name of the next field after it
)

// cursor reads ahead. A read beyond what has come yields 0 and makes the cursor short: all
// that was concluded since is void, and is concluded again when more has come. At the end of
// the input it yields 0, and conclusions are final. So a decision depends on the bytes alone
// and never on how they were cut.
type cursor struct {
	data  []byte
	i     int
	safe  int // bytes that stay whatever follows
	eof   bool
	short bool
}

// newCursor returns a cursor over at most limit bytes; the limit counts as the end of input.
func newCursor(data []byte, limit int, eof bool) cursor {
	if len(data) >= limit {
		return cursor{data: data[:limit], eof: true}
	}
	return cursor{data: data, eof: eof}
}

// peek returns the byte at the cursor, 0 at the end.
func (c *cursor) peek() byte { return c.at(0) }

// at returns the byte n after the cursor, 0 at the end.
func (c *cursor) at(n int) byte {
	if c.i+n < len(c.data) {
		return c.data[c.i+n]
	}
	if !c.eof {
		c.short = true
	}
	return 0
}

// atEnd reports whether the input ends here for good.
func (c *cursor) atEnd() bool {
	if c.i < len(c.data) {
		return false
	}
	if !c.eof {
		c.short = true
	}
	return true
}

// stands reports whether s stands n bytes after the cursor.
func (c *cursor) stands(n int, s string) bool {
	for i := range len(s) {
		if c.at(n+i) != s[i] {
			return false
		}
	}
	return true
}

// skip moves over bytes of the class and returns how many there were.
func (c *cursor) skip(class text.Class) int {
	start := c.i
	for c.i < len(c.data) && classes[c.data[c.i]]&class != 0 {
		c.i++
	}
	if c.i == len(c.data) && !c.eof {
		c.short = true
	}
	return c.i - start
}

// accept moves over s, ignoring case, and reports whether it was there.
func (c *cursor) accept(s string) bool {
	for i := range len(s) {
		if text.Lower(c.at(i)) != s[i] {
			return false
		}
	}
	c.i += len(s)
	return true
}
