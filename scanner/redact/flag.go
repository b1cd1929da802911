package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// flagged reports whether the flag is one of a command line that takes a password there.
func flagged(before []byte) bool {
	line := lastLine(before)
	return text.ContainsFold(line, "curl") || text.ContainsFold(line, "wget") || text.ContainsFold(line, "sshpass") || text.ContainsFold(line, "redis-cli")
}

// flagHead reads the argument of a flag: user:password, or a password alone.
func flagHead(c *cursor, before []byte) value {
	c.skip(blank)
	v := value{end: endBare}
	if is(c.peek(), quoting) {
		v = value{end: endQuoted, quote: c.peek()}
		c.i++
	}
	c.safe = c.i
	if flag := bytes.TrimRight(before, " =\t"); words.HasSuffixFold(flag, "-u") || words.HasSuffixFold(flag, "--user") {
		start := c.i
		for c.i-start < maxName && (is(c.peek(), userinfo) || c.peek() == '@' || c.peek() == '\\') {
			c.i++
		}
		if c.peek() != ':' || marks.Contains(c.data[start:c.i]) {
			return value{}
		}
		c.i++
	}
	if b := c.peek(); c.short || b <= ' ' || b == '-' || b == v.quote || b == '/' || c.reference() || c.masked() {
		return value{}
	}
	return v
}
