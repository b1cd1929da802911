package redact

import "github.com/svc-gateway/svc/scanner/internal/text"

// The classes of bytes that credentials and what announces them are made of.
const (
	blank  = text.Blank
	space  = text.Space
	digit  = text.Digit
	letter = text.Letter
)

const (
	name       = text.Further << iota // of an identifier: letters, digits, _ and -
	base64u                           // base64url
	base64s                           // base64 without padding
	padding                           // of base64
	userinfo                          // of the name of a user in a URL
	host                              // of a host with its port
	token68                           // what may follow Bearer
	hashed                            // of a crypt hash
	tailing                           // punctuation that may close a bare value
	stops                             // ends the authority of a URL
	quoting                           // " ' `
	pemBody                           // inside an armoured key
	upperDigit                        // A-Z, 0-9
	hexDigit                          // 0-9, a-f, A-F
	slash                             // / and @
)

var classes = func() (t [256]text.Class) {
	for b := range t {
		t[b] = text.ClassOf(byte(b))
		if t[b]&(letter|digit) != 0 {
			t[b] |= name | base64u | base64s | token68 | userinfo | host | hashed | pemBody
		}
	}
	set := func(class text.Class, s string) {
		for i := range len(s) {
			t[s[i]] |= class
		}
	}
	set(pemBody, " \t\r\n")
	set(upperDigit, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	set(hexDigit, "0123456789abcdefABCDEF")
	set(name|base64u, "_-")
	set(base64s, "+/")
	set(padding, "=")
	set(token68, "-._~+/")
	set(userinfo, "-._~%+")
	set(hashed, "./$,+-_")
	set(pemBody, "+/=-:,.()_\\")
	set(tailing, ",;.&)]}>\"'`:?|<\\")
	set(stops, " \t\r\n\x00/?#\"'<>`\\,;{}|()[]")
	set(host, "-._:%")
	set(quoting, "\"'`")
	set(slash, "/@")
	return t
}()

// is reports whether a byte is of one of the classes.
func is(b byte, class text.Class) bool { return classes[b]&class != 0 }
