package media

import "bytes"

// Format is a format that is known by its first bytes.
type Format uint8

// The formats. Those up to Zip are compressed and may hold whatever text.
const (
	NoFormat Format = iota // none that is known here
	Gzip
	Zstd
	Xz
	Bzip2
	Zip
	PNG
	JPEG
	GIF
	WebP
	PDF
	Wasm
)

// Packed reports whether the format compresses other bodies, text perhaps.
func (f Format) Packed() bool { return Gzip <= f && f <= Zip }

// String returns a name for messages.
func (f Format) String() string {
	for _, m := range magics {
		if m.format == f {
			return m.name
		}
	}
	return "none"
}

// magics are what bodies of the formats begin with; a question mark stands for any byte.
var magics = []struct {
	format      Format
	name, begin string
}{
	{Gzip, "gzip", "\x1f\x8b"},
	{Zstd, "zstd", "\x28\xb5\x2f\xfd"},
	{Xz, "xz", "\xfd7zXZ"},
	{Bzip2, "bzip2", "BZh?1AY&SY"},
	{Zip, "zip", "PK\x03\x04"},
	{PNG, "PNG", "\x89PNG\r\n\x1a\n"},
	{JPEG, "JPEG", "\xff\xd8\xff"},
	{GIF, "GIF", "GIF87a"},
	{GIF, "GIF", "GIF89a"},
	{WebP, "WebP", "RIFF????WEBP"},
	{PDF, "PDF", "%PDF-"},
	{Wasm, "WebAssembly", "\x00asm"},
}

// Start is what the first bytes of a body say of it.
type Start struct {
	// Charset is UTF16 or UTF32 where the body begins with the byte order mark of one, or with
	// letters and zeros by turns, and ASCII where it begins with the mark of UTF-8.
	Charset Charset

	// Mark is the number of bytes of the byte order mark.
	Mark int

	// Format is the format that the body begins like.
	Format Format
}

// Enough is the number of first bytes that always tell what can be told.
const Enough = 12

// Sniff tells by the first bytes of a body, and by its kind, what it is. ok is false where more bytes
// could tell more, at most [Enough]. A body without more has been told all the same.
//
// One of a textual kind is UTF-16 or UTF-32 when its first character is; text has no zeros. One of
// the kind Unknown may have zeros for other reasons, so two characters must be, unless the first one
// begins a JSON document: readers of JSON take all of these without being told (RFC 4627, section 3).
func Sniff(p []byte, k Kind) (start Start, ok bool) {
	if len(p) >= 2 && p[1] != 0 && 'a' <= p[0] && p[0] <= '{' {
		return Start{}, true // most bodies
	}
	ok = len(p) >= 2
	for _, m := range marks {
		if bytes.HasPrefix(p, m.begin) {
			return Start{Charset: m.charset, Mark: len(m.begin)}, ok
		}
		ok = ok && !bytes.HasPrefix(m.begin, p)
	}
	for _, m := range magics {
		if !agree(p, m.begin) {
			continue
		}
		if len(p) >= len(m.begin) {
			return Start{Format: m.format}, true
		}
		ok = false
	}
	if k == GRPC || k == Binary || len(p) < 2 {
		return Start{}, ok
	}
	charset, told := wide(p, k.Textual())
	return Start{Charset: charset}, ok && told
}

// agree reports whether p and the beginning are the same as far as both reach.
func agree(p []byte, begin string) bool {
	for i := range min(len(p), len(begin)) {
		if begin[i] != '?' && p[i] != begin[i] {
			return false
		}
	}
	return true
}

// marks are the byte order marks, longer ones before those that they begin with.
var marks = []struct {
	charset Charset
	begin   []byte
}{
	{ASCII, []byte("\xef\xbb\xbf")},
	{UTF32, []byte("\xff\xfe\x00\x00")},
	{UTF32, []byte("\x00\x00\xfe\xff")},
	{UTF16, []byte("\xff\xfe")},
	{UTF16, []byte("\xfe\xff")},
}

// unit is a way to write a character of ASCII in UTF-16 or UTF-32: as one byte among zeros.
type unit struct {
	charset  Charset
	size, at int
}

// units are all of them; those of UTF-32 come first, because they begin like those of UTF-16.
var units = []unit{{UTF32, 4, 0}, {UTF32, 4, 3}, {UTF16, 2, 0}, {UTF16, 2, 1}}

// wide tells whether p, of at least two bytes, begins like UTF-16 or UTF-32.
func wide(p []byte, textual bool) (charset Charset, told bool) {
	told = true
	if p[0] != 0 && p[1] != 0 {
		return Undeclared, told
	}
	for _, u := range units {
		is, short := u.begins(p, textual)
		if is {
			return u.charset, told
		}
		told = told && !short
	}
	return Undeclared, told
}

// begins reports whether p begins with a character in these units, or with two if it need not be
// text. short says that p is too short to tell.
func (u unit) begins(p []byte, textual bool) (is, short bool) {
	end := u.size
	if !textual {
		end *= 2
	}
	for i := 0; i < end; i++ {
		switch {
		case i >= len(p):
			return false, true
		case i%u.size != u.at:
			if p[i] != 0 {
				return false, false
			}
		case i < u.size && (p[i] == '{' || p[i] == '[' || p[i] == '"'):
			end = u.size
		case !isText(p[i]):
			return false, false
		}
	}
	return true, false
}

func isText(c byte) bool { return ' ' <= c && c < 0x7f || c == '\t' || c == '\n' || c == '\r' }
