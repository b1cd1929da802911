package reach

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxURL is the longest URL, in bytes, that is taken.
const maxURL = 4096

// defaultPorts are the ports of the schemes that are known.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// Loopback reports whether a host, a name or an address, is this one, as far as its text tells.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// ParseURL reads the URL of an HTTP server that is to be asked. What readers of URLs are known to differ
// in, or what hides where it leads, is refused: user names and passwords, backslashes, blanks and control
// characters, and whatever [CheckName] refuses. The result has its host in the form of CheckName, no port
// that is the default one, no fragment, and is ASCII.
func ParseURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("the URL is longer than %d bytes", maxURL)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\\':
			return nil, errors.New("the URL has a backslash in it; write %5C where one is meant")
		case c <= ' ' || c == 0x7f:
			return nil, errors.New("the URL has a blank or a control character in it; write it in percent-encoding")
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the URL cannot be read; write it as https://host/path")
	}
	switch {
	case defaultPorts[u.Scheme] == "":
		return nil, errors.New("the URL has to begin with https:// or http://")
	case u.User != nil:
		return nil, errors.New("the URL holds a user name or a password; leave them out")
	case u.Opaque != "" || u.Host == "":
		return nil, errors.New("the URL names no host; write it as https://host/path")
	}
	name, err := CheckName(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, err := checkPort(u.Port(), defaultPorts[u.Scheme])
	if err != nil {
		return nil, err
	}
	u.Host = joined(name, port, defaultPorts[u.Scheme])
	u.RawQuery, u.Fragment, u.RawFragment = ascii(u.RawQuery), "", ""
	return u, nil
}

// CheckName brings the host of a URL into one form: an address as [netip.Addr] writes it, not mapped, or
// a name in lower case. It refuses names that some readers take for addresses (127.1, 0x7f000001), names
// that are not ASCII, and names with a dot at the end.
func CheckName(name string) (string, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		if a.Zone() != "" {
			return "", errors.New("an address with a zone cannot be used")
		}
		return a.Unmap().String(), nil
	}
	switch {
	case name == "" || len(name) > 253:
		return "", errors.New("the host is empty or longer than 253 characters")
	case strings.HasSuffix(name, "."):
		return "", errors.New("the host ends with a dot; leave it out")
	}
	name = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
	label := ""
	for label = range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "", errors.New("the host has an empty part, or one of more than 63 characters")
		}
		for _, r := range label {
			switch {
			case r > 0x7f:
				return "", errors.New("the host is not ASCII; write an international name as xn--…")
			case (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_':
				return "", fmt.Errorf("the host has the character %q in it, which no name has", r)
			}
		}
	}
	if number(label) {
		return "", errors.New("the host is an address in an unusual form; write an IPv4 address as four decimal numbers")
	}
	return name, nil
}

// number reports whether a name whose last part this is is taken for an IPv4 address (WHATWG URL,
// "ends in a number").
func number(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return !strings.ContainsFunc(hex, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
	}
	return !strings.ContainsFunc(label, func(r rune) bool { return r < '0' || r > '9' })
}

// checkPort returns a port as it is usually written, def for none.
func checkPort(port, def string) (string, error) {
	if port == "" {
		return def, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", errors.New("the port has to be a number from 1 to 65535")
	}
	return strconv.FormatUint(n, 10), nil
}

// joined returns the host of a URL.
func joined(name, port, def string) string {
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port != def {
		name += ":" + port
	}
	return name
}

// ascii writes what is not ASCII in percent-encoding.
func ascii(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < 0x80 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}
