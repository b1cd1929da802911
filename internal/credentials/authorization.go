package credentials

import (
	"encoding/base64"
	"strings"
)

// Split returns the scheme of a value of Authorization and what follows it (RFC 9110, 11.6.2),
// without the spaces between and behind them. A value of one word is a scheme.
func Split(value string) (scheme, rest string) {
	scheme, rest, _ = strings.Cut(value, " ")
	return scheme, strings.Trim(rest, " ")
}

// Bearer returns the token of a value of Authorization (RFC 6750, 2.1), which may be empty. The
// scheme is case-insensitive (RFC 9110, 11.1).
func Bearer(value string) (token string, ok bool) {
	scheme, token := Split(value)
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return token, true
}

// IsBasic reports whether a value of Authorization has the scheme Basic.
func IsBasic(value string) bool {
	scheme, _ := Split(value)
	return strings.EqualFold(scheme, "Basic")
}

// Basic returns the user name and the password of a value of Authorization (RFC 7617, 2), each of
// which may be empty. It is not ok for another scheme, for what is no base64 and without a colon.
func Basic(value string) (user, password string, ok bool) {
	if !IsBasic(value) {
		return "", "", false
	}
	_, encoded := Split(value)
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(plain), ":")
}
