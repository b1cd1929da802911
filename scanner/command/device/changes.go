package device

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// This is what changes a device: words that write, clear or run in a command that shows something, names of
// places, and first words of commands. Devices take each word shortened.
var (
	writing = strings.Fields(`append bash binary clear copy delete erase exec execute file flush kill move outfile purge python redirect rename replace reset
		save script shell tee test upload write`)
	// looking are words of what is shown that look like one of those.
	looking = text.Words("copyright copyrights files filesystem filesystems redirects reset-cause reset-reason saved-config saved-configuration scripts testpoint")

	// executing begin commands that are none of a configuration, though some devices take them among its lines.
	executing = strings.Fields(`abort attach bash cd checkpoint clear commit configure connect copy debug delete dir disable disconnect dohost echo end erase exit format guestshell
		gunzip gzip install kill logout ls mkdir more move ping poweroff python python3 quit reload rename request reset resume rmdir rollback run schedule send shell show sleep
		squeeze ssh start sudo switchto system tac-pac tail tar tclsh telnet terminal test tftp traceroute undebug unmount untar verify watch where write zerotouch`)
	// settings are what system of a configuration sets.
	settings = text.Words("default jumbomtu mode nve qos routing vlan")

	place = regexp.MustCompile(`[A-Za-z][\w-]*:`)
)

// writes reports whether a word is, begins, or begins with a word that writes, in one of its parts. shown: it
// says what is shown, and is not shortened to a word that writes.
func writes(word string, shown bool) bool {
	if looking.HasString(word) {
		return false
	}
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("-_.=,", r) }) {
		if slices.ContainsFunc(writing, func(w string) bool { return strings.HasPrefix(part, w) || !shown && strings.HasPrefix(w, part) }) {
			return true
		}
	}
	return false
}

// names reports whether a word names a place for files, such as bootflash:x: its colon is that of no address.
func names(word string) bool {
	if !place.MatchString(word) {
		return false
	}
	if _, err := netip.ParseAddr(word); err == nil {
		return false
	}
	if _, err := netip.ParsePrefix(word); err == nil {
		return false
	}
	return !hardware.MatchString(word)
}

// hardware is an address of a network card.
var hardware = regexp.MustCompile(`^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$`)

// Executes reports whether a line begins with a command that is none of a configuration, or may be short for one.
func Executes(line string) bool {
	words := strings.Fields(strings.ToLower(line))
	if len(words) == 0 || words[0] == "system" && len(words) > 1 && settings.HasString(words[1]) {
		return false
	}
	return slices.ContainsFunc(executing, func(e string) bool { return strings.HasPrefix(e, words[0]) })
}
