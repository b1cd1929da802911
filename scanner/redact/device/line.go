package device

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// Begins reports whether the line up to the keyword is one of a configuration.
func (l Line) Begins(before []byte) bool {
	line := bytes.TrimRight(before[bytes.LastIndexByte(before, '\n')+1:], " \t")
	line = line[:max(0, len(line)-len(l.Keyword))]
	if i := bytes.LastIndexAny(line, "#>"); i >= 0 {
		line = line[i+1:] // what comes before is a prompt
	}
	if n := len(line); n > 0 && !text.Is(line[n-1], text.Blank) && (line[n-1] != '-' || l.Keyword != "authentication-key") {
		return false
	}
	first := words.FirstField(line)
	if len(first) == 0 {
		first = []byte(l.Keyword)
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

// TakesName are options of snmp-server host that a name or number follows.
var TakesName = text.Words("vrf use-vrf udp-port version")

// Grammar are words of configurations that follow a keyword and are no secrets.
var Grammar = text.Words(`key-chain keychain chain key-string community timeout mode hmac read write notify context access generate
	zeroize import export poll trap traps suite suites config-key rsa ec dsa label pubkey-chain mypubkey null aaa password none`)
