package identity

// MakeToken returns a new token in clear.
func MakeToken() string {
	s, _ := newToken()
	return s.Reveal()
}

// MatchDNS reports whether a name fits a dns pattern.
func MatchDNS(pattern, name string) bool {
	p, _ := parsePattern("dns:" + pattern)
	return glob(p.parts, name, ".")
}
