package device

import (
	"bytes"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// Begins reports whether the line up to the keyword is one of a configuration.
func (l Line) Begins(before []byte) bool {
	line := bytes.TrimRight(before[bytes.LastIndexByte(before, '\n')+1:], " \t")
	keyword := line[max(0, len(line)-len(l.Keyword)):]
	line, led := bare(line[:len(line)-len(keyword)])
	if led && len(keyword) > 0 && words.IsCapital(keyword[0]) {
		return false // an item of a list: - Key 5 takeaways
	}
	if n := len(line); n > 0 && !text.Is(line[n-1], text.Blank) && (line[n-1] != '-' || l.Keyword != "authentication-key") {
		return false
	}
	first := words.FirstField(line)
	if len(first) == 0 {
		first = []byte(l.Keyword)
	} else if led && prose.HasFold(first) && len(bytes.TrimSpace(line)) == len(first) {
		return false
	}
	if l.First != nil && !l.First.HasFold(first) || l.Alone && (len(line) == 0 || len(bytes.TrimLeft(line, " \t")) > 0) {
		return false
	}
	if l.Indexed {
		if n := words.LastField(line); len(n) == 0 || !text.Is(n[0], text.Digit) {
			return false
		}
	}
	for found := l.Within == ""; ; {
		field := words.FirstField(line)
		if len(field) == 0 || found {
			return found
		}
		found = len(field) == len(l.Within) && text.HasPrefixFold(field, l.Within)
		line = bytes.TrimLeft(line, " \t\r")[len(field):]
	}
}

// bare is a line without what stands before a command: a prompt, the sign of a difference or a comment, the
// number of the line, what a log says of it, and the words that take it back. led says that something but a
// prompt was there.
func bare(line []byte) (rest []byte, led bool) {
	if i := bytes.LastIndexAny(line, "#>"); i >= 0 {
		line = line[i+1:]
	}
	if i := bytes.LastIndex(line, []byte("command:")); i >= 0 {
		line, led = line[i+len("command:"):], true
	}
	if named := unnamed(line); len(named) < len(line) {
		line, led = named, true
	}
	for ; ; led = true {
		rest := bytes.TrimLeft(line, " \t")
		word := words.FirstField(rest)
		behind, numbered := unnumbered(line)
		if next := words.FirstField(behind); numbered && !spaced(line, behind) && bytes.IndexByte(next, '-') < 0 {
			numbered = len(next) == 0
		}
		switch {
		case len(rest) == 0:
			return line, led
		case strings.IndexByte("+-!<*|~", rest[0]) >= 0 && !bytes.HasPrefix(rest, []byte("--")): // which begins an option
			line = rest[1:]
		case numbered:
			line = behind
		case takesBack.HasFold(word) && len(word) < len(rest):
			line = rest[len(word):]
		default:
			return line, led
		}
	}
}

// Unled is a line without what programs put in front of each line of a file: its name and the number of the line,
// and the sign of a difference. An item of a list has none: - set reminders.
func Unled(line []byte) []byte {
	rest := unnamed(line)
	if behind, ok := unnumbered(rest); ok && spaced(rest, behind) {
		rest = behind
	}
	if len(rest) > 1 && strings.IndexByte("+-!<~", rest[0]) >= 0 && rest[1] != rest[0] && (rest[0] != '-' || rest[1] != ' ' || bytes.HasPrefix(rest[2:], []byte(" "))) {
		rest = rest[1:]
	}
	return rest
}

// unnamed is a line without the name of a file in front of it.
func unnamed(line []byte) []byte {
	if i := bytes.IndexByte(line, ':'); i > 0 && !bytes.ContainsAny(line[:i], " \t") && bytes.ContainsAny(line[:i], "./") {
		return line[i+1:]
	}
	return line
}

// unnumbered is a line without its number, which a colon or blanks end.
func unnumbered(line []byte) (rest []byte, ok bool) {
	rest = bytes.TrimLeft(line, " \t")
	figures := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	if figures == 0 || figures > 6 || figures == len(rest) || rest[figures] != ':' && !text.Is(rest[figures], text.Blank) {
		return line, false
	}
	return rest[figures+1:], true
}

// spaced reports whether more than one blank or a colon stands between the number of a line and the line, so
// that it counts no things.
func spaced(line, behind []byte) bool {
	end := line[len(line)-len(behind)-1]
	return end != ' ' || len(behind) > 0 && text.Is(behind[0], text.Blank)
}

var (
	takesBack = text.Words("no default undo")
	// prose are first words that sentences and items of lists have before "key" as well: - client key exchange.
	prose = text.Words("client server")
)

// TakesName are options of snmp-server host that a name or number follows.
var TakesName = text.Words("vrf use-vrf udp-port version")

// Grammar are words of configurations that follow a keyword and are no secrets.
var Grammar = text.Words(`key-chain keychain chain key-string community timeout mode hmac read write notify context access generate
	zeroize import export poll trap traps suite suites config-key rsa ec dsa label pubkey-chain mypubkey null aaa password none`)
