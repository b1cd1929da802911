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
	for ; ; led = true {
		rest := bytes.TrimLeft(line, " \t")
		figures := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
		word := words.FirstField(rest)
		switch {
		case len(rest) == 0:
			return line, led
		case strings.IndexByte("+-!<*|~", rest[0]) >= 0 && !bytes.HasPrefix(rest, []byte("--")): // which begins an option
			line = rest[1:]
		case figures > 0 && figures < len(rest) && rest[figures] == ':':
			line = rest[figures+1:]
		case takesBack.HasFold(word) && len(word) < len(rest):
			line = rest[len(word):]
		default:
			return line, led
		}
	}
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
