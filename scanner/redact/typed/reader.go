package typed

import "github.com/svc-gateway/svc/scanner/internal/text"

// Between reads what stands behind a name, and behind blanks if there were some: string = "x", [32] = "x",
// ?: string = "x", { get; set; } = "x".
func Between(data []byte, eof, blanks bool) (n int, short bool) {
	c := reader{data: data, eof: eof}
	if blanks {
		_ = c.declared() || c.accessors()
	} else {
		_ = c.dimension() || c.optional()
	}
	return c.i, c.short
}

// Annotation reads what stands behind a name and a colon: &'static str = "x", Optional[str] = "x".
func Annotation(data []byte, eof bool) (n int, short bool) {
	c := reader{data: data, eof: eof}
	c.annotated()
	return c.i, c.short
}

// Conversion reads the beginning of a call that makes a value of a string: String::from("x").
func Conversion(data []byte, eof bool) (n int, short bool) {
	c := reader{data: data, eof: eof}
	c.converted()
	return c.i, c.short
}

// reader reads ahead. A read beyond what has come makes it short.
type reader struct {
	data  []byte
	i     int
	eof   bool
	short bool
}

func (c *reader) peek() byte { return c.at(0) }

func (c *reader) at(n int) byte {
	if c.i+n < len(c.data) {
		return c.data[c.i+n]
	}
	c.short = c.short || !c.eof
	return 0
}

// skip moves over bytes of the class and returns how many there were.
func (c *reader) skip(class text.Class) int {
	start := c.i
	for text.Is(c.peek(), class) {
		c.i++
	}
	return c.i - start
}

// accept moves over s, ignoring case, and reports whether it was there.
func (c *reader) accept(s string) bool {
	for i := range len(s) {
		if text.Lower(c.at(i)) != s[i] {
			return false
		}
	}
	c.i += len(s)
	return true
}

func quotes(b byte) bool { return b == '"' || b == '\'' || b == '`' }
