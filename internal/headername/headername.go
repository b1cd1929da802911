// Package headername compares the names of headers as the least careful server does.
//
//	headername.Fold("Remote+User") == headername.Fold("remote_user") // remoteuser
//
// A server that hands a request to a program puts its headers into variables, and makes one sign of
// all that is no letter or digit, or leaves it out (CGI, RFC 3875, 4.1.18). Who removes a header that
// such a server must not get has to remove all that fold to the same.
//
// All functions may be used by many goroutines at once.
package headername

// Fold returns the name in lower case, without what is no letter or digit. Names have ASCII
// characters only (RFC 9110, 5.1).
func Fold(name string) string { return string(AppendFold(nil, name)) }

// AppendFold appends the folded name to b.
func AppendFold(b []byte, name string) []byte {
	for _, c := range []byte(name) {
		switch {
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			b = append(b, c)
		}
	}
	return b
}

// Set returns the folded names as a set.
func Set(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[Fold(name)] = true
	}
	return set
}
