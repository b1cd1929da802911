package device

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Devices whose commands are paths of menus with a verb at the end: RouterOS (interface ethernet print
// detail), ZyXEL (cfg wlan get).
var (
	menus = text.Words("ip ipv6 interface routing system queue user log file certificate ppp snmp port radius caps-man bridge mpls disk container tool")
	// menuWords are the menus below ip that are no commands of the program of the same name.
	menuWords = text.Words(`address arp dhcp-server dhcp-client dhcp-relay dns firewall neighbor pool service ipsec hotspot settings ssh proxy upnp traffic-flow socks cloud smb route vrf
		lease network filter nat mangle raw address-list connection peer policy proposal active-peers installed-sa identity static cache host active profile option rule`)
	menuOptions = regexp.MustCompile(`^(?:terse|detail|brief|without-paging|stats|status|count-only|once|value-list|as-value|oid|where|numbers|about|[\w-]+[=~]"?[\w.:/*-]*"?|[\w.-]+)$`)
	menuWord    = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// PrintsMenu reports whether a command prints what a menu holds.
func PrintsMenu(name string, words []string) bool {
	name = strings.TrimPrefix(name, "/")
	if n := len(words); name == "cfg" && n > 1 && (words[n-1] == "get" || n > 2 && slices.Contains(words, "get")) {
		return !slices.ContainsFunc(words, func(w string) bool {
			return text.Lists("set add edit delete", w) || strings.ContainsAny(w, ";$`&|<>")
		})
	}
	end := slices.IndexFunc(words, func(w string) bool { return w == "print" || w == "monitor" })
	if !menus.HasString(name) || end < 0 || name == "ip" && end == 0 {
		return false
	}
	for i, w := range words {
		switch {
		case i < end && (!menuWord.MatchString(w) || name == "ip" && !menuWords.HasString(w) || text.Lists("add set remove delete del flush enable disable reset exec", w)):
			return false
		case i > end && (!menuOptions.MatchString(w) || strings.HasPrefix(w, "file=") || strings.HasPrefix(w, "interval=") || strings.HasPrefix(w, "-")):
			return false
		}
	}
	return words[end] == "print" || slices.Contains(words[end:], "once")
}
