package identity

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxFolded bounds a folded name, in bytes.
const maxFolded = 256

// FoldName returns one form for all spellings of a user name that a directory may take for the
// same: letters of any case and width, with or without accents (Active Directory), invisible
// characters and runs of spaces (RFC 4518). Failures are counted under it, or every spelling
// would be a fresh set of guesses. Different names that fold alike share their failures.
func FoldName(name string) string {
	name = decompose(cases.Fold().String(decompose(cases.Fold().String(decompose(name)))))
	name = strings.Join(strings.Fields(name), " ")
	if len(name) > maxFolded {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:maxFolded], ""))
	}
	return name
}

// decompose splits what can be split and drops accents and what cannot be seen.
func decompose(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, norm.NFKD.String(strings.ToValidUTF8(s, "\uFFFD")))
}

// nat64 is the prefix behind which IPv4 addresses look like IPv6 ones (RFC 6052, 2.1).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// FoldAddress returns what failures of an address are counted under: an IPv4 address itself, of
// an IPv6 address the network of 64 bits, out of which its holder may take any address. What is
// no address stays as it is.
func FoldAddress(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:])).String()
	}
	network, _ := a.Prefix(64) // fails for negative and too long prefixes only
	return network.String()
}
