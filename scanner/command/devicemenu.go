package command

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

// printsMenu reports whether a command prints what a menu holds.
func printsMenu(name string, args call) bool {
	name = strings.TrimPrefix(name, "/")
	if args.dynamic() || name == "cfg" && len(args) > 1 && (args.last() == "get" || len(args) > 2 && slices.ContainsFunc(args, func(a arg) bool { return a.text == "get" })) {
		return !args.dynamic() && !slices.ContainsFunc(args, func(a arg) bool {
			return text.Lists("set add edit delete", a.text) || strings.ContainsAny(a.text, ";$`&|<>")
		})
	}
	end := slices.IndexFunc(args, func(a arg) bool { return a.text == "print" || a.text == "monitor" })
	if !menus.HasString(name) || end < 0 || name == "ip" && end == 0 {
		return false
	}
	for i, a := range args {
		switch {
		case i < end && (!menuWord.MatchString(a.text) || name == "ip" && !menuWords.HasString(a.text) || text.Lists("add set remove delete del flush enable disable reset exec", a.text)):
			return false
		case i > end && (!menuOptions.MatchString(a.text) || strings.HasPrefix(a.text, "file=") || strings.HasPrefix(a.text, "interval=") || strings.HasPrefix(a.text, "-")):
			return false
		}
	}
	return args[end].text == "print" || slices.ContainsFunc(args[end:], func(a arg) bool { return a.text == "once" })
}
