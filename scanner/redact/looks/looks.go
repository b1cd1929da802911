package looks

import (
	"bytes"
	"encoding/base64"
	"hash/crc32"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// maxCredentials is how much base64 is decoded to see what it is.
const maxCredentials = 1216

// Random reports whether the text changes between lower case, capitals and digits as often as
// Random letters do, and repeats few of them.
func Random(p []byte) bool {
	const small, large, figure = 1, 2, 3
	var seen [256]bool
	distinct, changes, last, length := 0, 0, 0, 0
	for _, b := range p {
		var kind int
		switch {
		case text.Is(b, text.Digit):
			kind = figure
		case 'a' <= b && b <= 'z':
			kind = small
		case 'A' <= b && b <= 'Z':
			kind = large
		default:
			continue
		}
		if length++; !seen[b] {
			seen[b] = true
			distinct++
		}
		if kind != last && last != 0 {
			changes++
		}
		last = kind
	}
	return length >= 8 && changes*6 >= length && distinct >= min(10, 4+length/4)
}

// Scrambled reports whether capitals have figures among them, or fewer vowels than words have.
func Scrambled(p []byte) bool {
	vowels := 0
	for _, b := range p {
		if bytes.IndexByte([]byte("AEIOU"), b) >= 0 {
			vowels++
		}
	}
	return bytes.ContainsAny(p, "0123456789") || vowels*4 <= len(p)
}

// Checksum reports whether the last six of 36 base62 letters are the CRC-32 of the others, as
// GitHub and npm write it.
func Checksum(_, body []byte) bool {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if len(body) != 36 {
		return false
	}
	want := crc32.ChecksumIEEE(body[:30])
	got := uint32(0)
	for _, b := range body[30:] {
		i := bytes.IndexByte([]byte(alphabet), b)
		if i < 0 {
			return false
		}
		got = got*62 + uint32(i)
	}
	return got == want
}

// Camel reports whether the text is a name of several words: NextToken, lastEvaluatedKey.
func Camel(p []byte) bool {
	small := 2
	for i, b := range p {
		switch {
		case 'a' <= b && b <= 'z':
			small++
		case words.IsCapital(b) && (i == 0 || small >= 2):
			small = 0
		default:
			return false
		}
	}
	return small >= 2
}

// Compound reports whether an identifier is made of several words: db_password, userSecret.
func Compound(p []byte) bool {
	for i := 1; i < len(p); i++ {
		if p[i] == '_' || p[i] < 'a' && text.Is(p[i], text.Letter) && p[i-1] >= 'a' {
			return i < len(p)-1
		}
	}
	return false
}

// Wordlike reports whether the text is letters, of which only the first may be a capital.
func Wordlike(p []byte) bool {
	for i, b := range p {
		if b < 'a' || b > 'z' {
			if i > 0 || !words.IsCapital(b) {
				return false
			}
		}
	}
	return true
}

// Credentials reports whether base64 text is user:password.
func Credentials(text []byte) bool {
	if len(text) >= maxCredentials {
		return true
	}
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, _ := base64.RawStdEncoding.Decode(plain, text)
	colon := false
	for _, b := range plain[:n] {
		if b < ' ' || b == 0x7f {
			return false
		}
		colon = colon || b == ':'
	}
	return colon
}

// Repeated reports whether a word is one letter again and again: xxxx.
func Repeated(p []byte) bool { return len(p) > 2 && bytes.Count(p, p[:1]) == len(p) }

// Numbered reports whether the text ends with a number of at least six digits, the id of a bot.
func Numbered(p []byte) bool {
	n := 0
	for n < len(p) && n < 12 && text.Is(p[len(p)-1-n], text.Digit) {
		n++
	}
	return n >= 6
}

// DiscordID reports whether the text ends with the base64 of the id of a user of Discord: 17 digits at
// least, so that it begins with M, N or O.
func DiscordID(p []byte) bool {
	n := 0
	for n < len(p) && n < 32 && text.Is(p[len(p)-1-n], text.Letter|text.Digit) {
		n++
	}
	if n < 23 || n > 28 {
		return false
	}
	first := p[len(p)-n]
	return first == 'M' || first == 'N' || first == 'O'
}

// Armoured reports whether the text ends with the beginning of an armoured private key and two dashes. The
// dashes in front may be missing: they may have come in a piece of their own, or were taken for something else.
func Armoured(before []byte) bool {
	const begin = "BEGIN "
	before = bytes.TrimRight(before[:len(before)-2], " ")
	i := bytes.LastIndex(before, []byte(begin))
	if i < 0 {
		return false
	}
	title := string(before[i+len(begin):])
	for j := range len(title) {
		if b := title[j]; b != ' ' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return bytes.HasSuffix(before, []byte("PRIVATE KEY")) || bytes.HasSuffix(before, []byte("PRIVATE KEY BLOCK"))
}

// Hex reports whether p is at least least digits in hex, with a figure among them.
func Hex(p []byte, least int) bool {
	for _, b := range p {
		if !text.Is(b, text.Digit) && (b|0x20 < 'a' || b|0x20 > 'f') {
			return false
		}
	}
	return len(p) >= least && bytes.ContainsAny(p, "0123456789")
}
