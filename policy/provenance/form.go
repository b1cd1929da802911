package provenance

import (
	"net/netip"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/net/idna"
)

const maxValue = 4096 // bytes of an identifier

// form returns what two values of a kind have in common when they are the same; false when the value
// is none of that kind.
func form(k Kind, value string) (string, bool) {
	if value == "" || len(value) > maxValue || !utf8.ValidString(value) || strings.ContainsFunc(value, unseen) {
		return "", false
	}
	switch k {
	case Path:
		return path.Clean(value), true
	case Host:
		return hostForm(value)
	case URL:
		return urlForm(value)
	case Recipient:
		return recipientForm(value)
	case Device:
		return lower(value), true
	case User:
		value = strings.TrimPrefix(value, "@")
		return value, value != ""
	case ID:
		if id, err := uuid.Parse(value); err == nil && (len(value) == 36 || len(value) == 32) { // in braces it does not look at them
			return id.String(), true
		}
		return value, true
	}
	return "", false
}

// unseen reports whether a character has no look of its own, so that a person cannot have meant it.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lower changes the letters A to Z only: others, such as the Kelvin sign, have look-alikes among them.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// hostForm returns a host without its port.
func hostForm(value string) (string, bool) {
	if a, err := netip.ParseAddr(strings.Trim(value, "[]")); err == nil {
		return a.Unmap().String(), true
	}
	host := value
	if name, port, ok := strings.Cut(value, ":"); ok {
		if a, err := netip.ParseAddrPort(value); err == nil {
			return a.Addr().Unmap().String(), true
		}
		if !digits(port) {
			return "", false
		}
		host = name
		if a, err := netip.ParseAddr(host); err == nil {
			return a.String(), true
		}
	}
	return nameForm(host)
}

// nameForm returns the name of a host in ASCII and lower case. Look-alikes stay different.
func nameForm(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".")
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil || ascii == "" || len(ascii) > 253 {
		return "", false
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInLabel) {
			return "", false
		}
	}
	return ascii, true
}

func notInLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

func digits(s string) bool {
	return s != "" && len(s) <= 5 && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "ssh": "22"}

// urlForm normalises a URL with a host. User names and queries stay as they are; one with other
// credentials, or with another query, is another URL.
func urlForm(value string) (string, bool) {
	u, err := url.Parse(value)
	if err != nil || u.Scheme == "" || u.Opaque != "" || strings.ContainsAny(value, "\\ ") {
		return "", false
	}
	host, ok := hostForm(u.Hostname())
	if !ok {
		return "", false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != defaultPorts[u.Scheme] {
		host += ":" + port
	}
	user := ""
	if u.User != nil {
		user = u.User.String() + "@"
	}
	query := ""
	if u.RawQuery != "" || u.ForceQuery {
		query = "?" + escapes(u.RawQuery)
	}
	return u.Scheme + "://" + user + host + resolved(escapes(u.EscapedPath())) + query, true
}

// resolved removes the dot segments of the path of a URL (RFC 3986, section 5.2.4). Empty segments stay.
func resolved(p string) string {
	var out []string
	segments := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".", "..":
			if s == ".." && len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.Join(out, "/")
}

// escapes writes percent-encoding in one way: characters that need none stand for themselves, and the
// others are in capitals. An escaped slash stays escaped.
func escapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) || !hex(s[i+1]) || !hex(s[i+2]) {
			b.WriteByte(s[i])
			continue
		}
		if c := unhex(s[i+1])<<4 | unhex(s[i+2]); unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// unreserved is the set of RFC 3986, section 2.3.
func unreserved(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}

// recipientForm returns an e-mail address with the form of its host, or the name of an account. The
// part before the @ is the receiving server's business: its case counts (RFC 5321, section 2.4).
func recipientForm(value string) (string, bool) {
	local, domain, ok := strings.Cut(value, "@")
	if !ok {
		return value, true
	}
	host, valid := nameForm(domain)
	return local + "@" + host, valid && local != ""
}
