package scanner

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
func (c *cursor) skip(class uint32) int {
	start := c.i
	for c.i < len(c.data) && classes[c.data[c.i]]&class != 0 {
		c.i++
	}
	if c.i == len(c.data) && !c.eof {
		c.short = true
	}
	return c.i - start
}

// take moves over s, ignoring case, and reports whether it was there.
func (c *cursor) take(s string) bool {
	for i := range len(s) {
		if lower(c.at(i)) != s[i] {
			return false
		}
	}
	c.i += len(s)
	return true
}

// classes of bytes.
const (
	blank      uint32 = 1 << iota // space, tab
	space                         // white space, line ends included
	digit                         // 0-9
	letter                        // A-Z, a-z
	name                          // of an identifier: letters, digits, _ and -
	base64u                       // base64url
	base64s                       // base64 without padding
	padding                       // of base64
	userinfo                      // of the name of a user in a URL
	host                          // of a host with its port
	token68                       // what may follow Bearer
	hashed                        // of a crypt hash
	tailing                       // punctuation that may close a bare value
	stops                         // ends the authority of a URL
	quoting                       // " ' `
	pemBody                       // inside an armoured key
	upperDigit                    // A-Z, 0-9
	hexDigit                      // 0-9, a-f, A-F
)

var classes = func() (t [256]uint32) {
	set := func(class uint32, s string) {
		for i := range len(s) {
			t[s[i]] |= class
		}
	}
	for b := '0'; b <= '9'; b++ {
		t[b] |= digit | name | base64u | base64s | token68 | userinfo | host | hashed | pemBody
	}
	for b := 'a'; b <= 'z'; b++ {
		for _, b := range []rune{b, b - 'a' + 'A'} {
			t[b] |= letter | name | base64u | base64s | token68 | userinfo | host | hashed | pemBody
		}
	}
	set(blank, " \t")
	set(space|pemBody, " \t\r\n")
	set(upperDigit, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	set(hexDigit, "0123456789abcdefABCDEF")
	set(name|base64u, "_-")
	set(base64s, "+/")
	set(padding, "=")
	set(token68, "-._~+/")
	set(userinfo, "-._~%+")
	set(hashed, "./$,+-_")
	set(pemBody, "+/=-:,.()_\\")
	set(tailing, ",;.&)]}>\"'`:?|<\\")
	set(stops, " \t\r\n\x00/?#\"'<>`\\,;{}|()[]")
	set(host, "-._:%")
	set(quoting, "\"'`")
	return t
}()

func is(b byte, class uint32) bool { return classes[b]&class != 0 }

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
