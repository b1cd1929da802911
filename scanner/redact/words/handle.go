package words

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

// Handle reports whether a field or member of this name holds a handle. The name may be the end of a
// longer text.
func Handle(name []byte) bool {
	before, last := CutWord(name)
	if len(last) == len("tokens") {
		last = bytes.TrimRight(last, "sS")
	}
	switch {
	case FoldIs(last, "token"):
		rest, purpose := CutWord(before)
		if purposes.HasFold(purpose) {
			return true
		}
		_, other := CutWord(rest)
		return FoldIs(purpose, "verification") && FoldIs(other, "request") || FoldIs(purpose, "request") && FoldIs(other, "client")
	case FoldIs(last, "id"):
		_, session := CutWord(before)
		return FoldIs(session, "session")
	}
	head, ok := CutSuffixFold(last, "token") // csrftoken
	return ok && purposes.HasFold(head)
}

// CutWord cuts the last word off an identifier: Token off nextPageToken, TOKEN off X-CSRF-TOKEN.
func CutWord(p []byte) (before, word []byte) {
	end := len(p)
	for end > 0 && !text.Is(p[end-1], text.Letter|text.Digit) {
		if p[end-1] != '-' && p[end-1] != '_' && p[end-1] != '.' {
			return nil, nil
		}
		end--
	}
	i := end
	for i > 0 && text.Is(p[i-1], text.Letter|text.Digit) {
		if i--; i > 0 && i < end && IsCapital(p[i]) && (!IsCapital(p[i-1]) || i+1 < end && !IsCapital(p[i+1])) {
			break
		}
	}
	return p[:i], p[i:end]
}

// IsCapital reports whether a byte is a capital of ASCII.
func IsCapital(b byte) bool { return 'A' <= b && b <= 'Z' }

// FoldIs reports whether p is the lower-case word in any case.
func FoldIs(p []byte, word string) bool { return len(p) == len(word) && text.HasPrefixFold(p, word) }

// CutSuffixFold cuts the lower-case word in any case off the end of p.
func CutSuffixFold(p []byte, word string) (before []byte, ok bool) {
	if !HasSuffixFold(p, word) {
		return nil, false
	}
	return p[:len(p)-len(word)], true
}

// HasSuffixFold reports whether p ends with the lower-case word in any case.
func HasSuffixFold(p []byte, word string) bool {
	return len(p) >= len(word) && text.HasPrefixFold(p[len(p)-len(word):], word)
}
