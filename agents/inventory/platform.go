package inventory

import (
	"slices"
	"strings"
)

// The platforms that commands can be run on.
const (
	IOS   = "ios"   // Cisco IOS and IOS XE
	NXOS  = "nxos"  // Cisco NX-OS
	EOS   = "eos"   // Arista EOS
	Junos = "junos" // Juniper Junos
	Linux = "linux" // a host with a POSIX shell
)

// Platforms lists them.
func Platforms() []string { return []string{IOS, NXOS, EOS, Junos, Linux} }

// synonyms are the names that platforms have elsewhere, without what separates their words.
var synonyms = map[string]string{
	"ciscoios": IOS, "iosxe": IOS, "ciscoiosxe": IOS, "ciscoxe": IOS,
	"cisconxos": NXOS, "nexus": NXOS,
	"aristaeos": EOS, "arista": EOS,
	"juniperjunos": Junos, "juniper": Junos, "junosevolved": Junos,
	"debian": Linux, "ubuntu": Linux, "rhel": Linux, "almalinux": Linux, "rockylinux": Linux, "ubuntulinux": Linux, "debianlinux": Linux,
}

// Platform returns the name that a platform has here. A platform that is none of ours keeps its name.
func Platform(name string) string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_.", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if slices.Contains(Platforms(), plain) {
		return plain
	}
	if ours, ok := synonyms[plain]; ok {
		return ours
	}
	return name
}
