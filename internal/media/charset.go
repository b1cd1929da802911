package media

import "strings"

// Charset is a character set, as far as it matters to those who look for text of ASCII.
type Charset uint8

// The character sets. What comes later in this list stands in the way more.
const (
	Undeclared Charset = iota
	ASCII              // UTF-8, ISO 8859 and whatever else has ASCII in it, each letter a byte of its own value
	UTF16
	UTF32
	Foreign // one in which bytes of ASCII stand for something else, and every one that is not known here
)

// Readable reports whether ASCII in a text of this character set can be read as it stands.
func (c Charset) Readable() bool { return c <= ASCII }

// supersets are the character sets that hold ASCII byte for byte, by their names without marks.
// "binary" and the words behind it name no set, and no reader takes them for one.
var supersets = set(`
	utf8 utf8mb4 utf8sig u8 cesu8 unicode11utf8 unicode20utf8 xunicode20utf8
	ascii usascii us csascii iso646us iso646irv ansix341968 ansix341986 cp367 ibm367
	gbk xgbk cp936 ms936 gb2312 gb231280 gb18030 csgb2312 chinese
	shiftjis sjis xsjis csshiftjis mskanji ms932 cp932 windows31j
	korean csksc56011987 ksc5601 ksc56011987 ksc56011989 johab cp949 ms949 windows949 uhc
	cp950 ms950 tis620 windows874 cp874 dos874
	macintosh mac macroman xmacroman maccyrillic xmaccyrillic
	cp437 ibm437 cp737 cp775 cp850 ibm850 cp852 ibm852 cp855 ibm855 cp857 ibm857 cp858
	cp860 cp861 cp862 ibm862 cp863 cp865 cp866 ibm866 cp869
	viscii armscii8 ptcp154 hproman8
	binary unknown8bit xunknown none null undefined`)

// families are how names of more such sets begin: iso-8859-15, windows-1252, euc-jp.
var families = []string{"iso8859", "latin", "windows125", "cp125", "xcp125", "win125", "koi8", "eucjp", "euckr", "euccn", "euctw", "xeuc", "cseuc", "big5", "xbig5", "csbig5"}

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// charsetIn returns the character set that the parameters of a Content-Type name; of several the one
// that stands in the way most. Readers differ in what a quoted separator is, so they are looked for
// within quotes too.
func charsetIn(field string) (c Charset) {
	start := 0
	for i := 0; i <= len(field); i++ {
		if i == len(field) || field[i] == ';' || field[i] == ',' {
			c = max(c, charsetOfParameter(field[start:i]))
			start = i + 1
		}
	}
	return c
}

// charsetOfParameter returns the character set that a parameter names, if it is one for that.
func charsetOfParameter(parameter string) Charset {
	name, value, ok := strings.Cut(parameter, "=")
	const charset = "charset"
	switch name = strings.Trim(name, " \t\r\n\"'"); {
	case !ok || len(name) < len(charset) || !strings.EqualFold(name[:len(charset)], charset):
		return Undeclared
	case len(name) == len(charset):
		return charsetOf(value)
	case name[len(charset)] == '*': // RFC 2231: in pieces, or with a character set of its own
		return Foreign
	}
	return Undeclared
}

// charsetOf returns the character set of that name.
func charsetOf(value string) Charset {
	if strings.Trim(value, " \t\r\n\"'") == "" {
		return Undeclared
	}
	var buf [24]byte
	n := 0
	for i := range len(value) {
		c := value[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		switch {
		case c >= 0x80 || n == len(buf):
			return Foreign
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9': // the rest are marks that names are written with and without
			buf[n] = c
			n++
		}
	}
	name := buf[:n]
	if supersets[string(name)] || begins(name, families...) {
		return ASCII
	}
	switch {
	case begins(name, "utf16", "ucs2", "csucs2", "iso10646ucs2", "csunicode", "u16"), string(name) == "unicode":
		return UTF16
	case begins(name, "utf32", "ucs4", "csucs4", "iso10646ucs4", "u32"):
		return UTF32
	}
	return Foreign
}

func begins(name []byte, prefixes ...string) bool {
	for _, p := range prefixes {
		if len(name) >= len(p) && string(name[:len(p)]) == p {
			return true
		}
	}
	return false
}
