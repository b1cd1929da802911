package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// A handle is what a server gives a client so that it comes back with the next request: the token of
// a page, of progress, of a form, the id of a session of a protocol. It says where a conversation goes
// on, not who speaks. So its name announces no secret; a value that is a secret by its looks is one
// there too.
//
// A token is a handle if the word before it says what it is handed back for. The id of a session is
// one where an API spells it so, as two words: as a member, a header field, or a parameter of a URL.
// Spelled as one word, as cookies are, and in a line of text, it may be all that a login gave.

// purposes are the words before "token" that say what it is handed back for. Two words are written
// together.
var purposes = text.Words(`public change page paging nextpage prevpage previouspage pagination next prev previous cursor continue continuation scroll sync nextsync
	delta progress csrf xsrf csrfmiddleware authenticity requestverification antiforgery lock idempotency resumption`)

// Handle reports whether a field or member of this name holds a handle: Mcp-Session-Id,
// nextPageToken, X-CSRF-Token. Its name announces no secret then.
func Handle(name string) bool { return handle([]byte(name)) }

// handle is [Handle] of a name that may be the end of a longer text.
func handle(name []byte) bool {
	before, last := cutWord(name)
	if len(last) == len("tokens") {
		last = bytes.TrimRight(last, "sS")
	}
	switch {
	case foldIs(last, "token"):
		rest, purpose := cutWord(before)
		if purposes.HasFold(purpose) {
			return true
		}
		_, other := cutWord(rest)
		return foldIs(purpose, "verification") && foldIs(other, "request") || foldIs(purpose, "request") && foldIs(other, "client")
	case foldIs(last, "id"):
		_, session := cutWord(before)
		return foldIs(session, "session")
	}
	head, ok := cutSuffixFold(last, "token") // csrftoken
	return ok && purposes.HasFold(head)
}

// cutWord cuts the last word off an identifier: Token off nextPageToken, TOKEN off X-CSRF-TOKEN.
func cutWord(p []byte) (before, word []byte) {
	end := len(p)
	for end > 0 && !is(p[end-1], letter|digit) {
		if p[end-1] != '-' && p[end-1] != '_' && p[end-1] != '.' {
			return nil, nil
		}
		end--
	}
	i := end
	for i > 0 && is(p[i-1], letter|digit) {
		if i--; i > 0 && i < end && isCapital(p[i]) && (!isCapital(p[i-1]) || i+1 < end && !isCapital(p[i+1])) {
			break
		}
	}
	return p[:i], p[i:end]
}

func isCapital(b byte) bool { return 'A' <= b && b <= 'Z' }

func foldIs(p []byte, word string) bool { return len(p) == len(word) && text.HasPrefixFold(p, word) }

func cutSuffixFold(p []byte, word string) (before []byte, ok bool) {
	if !hasSuffixFold(p, word) {
		return nil, false
	}
	return p[:len(p)-len(word)], true
}

// handed reports whether the word, after which closers stand, is the name of something that this
// client is to hand back. line is what stands before the word.
func (w word) handed(line, spelled, closers []byte) bool {
	if w.kind != guardedWord {
		return false
	}
	if hidden(line) {
		return true
	}
	name := line[len(bytes.TrimRightFunc(line, inIdentifier)):]
	if bytes.HasSuffix(name, []byte("_")) && len(name) == 1 && attribute(line) { // name="_token"
		return true
	}
	name = line[len(line)-len(name) : len(line)+len(spelled)] // the word follows its line
	switch {
	case !handle(name):
		return false
	case !hasSuffixFold(name, "id"), len(closers) > 0:
		return true
	}
	before := line[:len(bytes.TrimRightFunc(line, inIdentifier))]
	return bytes.HasSuffix(before, []byte("?")) || bytes.HasSuffix(before, []byte("&")) || bytes.HasSuffix(before, []byte("&amp;"))
}

// shortcut reports whether the word is the attribute of HTML that names a key of the keyboard:
// accesskey="n".
func (w word) shortcut(c *cursor, line []byte) bool {
	if w.spelling != "-key" || !hasSuffixFold(line, "access") || follows(line, len("access"), name) || c.peek() != '=' {
		return false
	}
	n := 1
	if is(c.at(n), quoting) {
		n++
	}
	return c.at(n) > ' ' && (is(c.at(n+1), quoting|blank) || c.at(n+1) == '>')
}

// hidden reports whether a hidden field of a form ends the line: what it has it has for this client.
func hidden(line []byte) bool {
	tag := line[max(0, bytes.LastIndexByte(line, '<')):]
	return text.HasPrefixFold(tag, "<input") && text.ContainsFold(tag, "hidden")
}

func inIdentifier(r rune) bool { return r < 0x80 && is(byte(r), name) }
