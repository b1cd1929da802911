package identity

// MakeToken returns a new token in clear.
func MakeToken() string {
	s, _ := newToken()
	return s.Reveal()
}
