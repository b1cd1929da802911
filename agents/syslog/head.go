package syslog

import (
	"cmp"
	"net/netip"
	"strings"
	"time"
)

// head is what stands in front of the text of a message that has not the form of RFC 5424.
//
// RFC 3164 describes what programs sent in 2001: <PRI>Mmm dd hh:mm:ss host app[pid]: text. Devices add to it, in front
// of the time, behind it and in the text, and leave out what they like:
//
//	123: 000485: router1: *Mar  1 2024 00:00:12.345 CET: %SYS-5-CONFIG_I: text    IOS: counter, sequence number, origin, time
//	12: 2d03h: %LINK-3-UPDOWN: text                                               IOS: how long it runs
//	45: router1 RP/0/RSP0/CPU0:Mar  1 00:00:12 : cfg[7]: %MGBL-SYS-5-CONFIG_I : text   IOS-XR: node, program
//	: 2024 Mar  1 00:00:12.345 UTC: %ETHPORT-5-IF_UP: text                        NX-OS
//	Mar 01 2024 00:00:12 fw1 : %ASA-6-302013: text                                ASA
//	wlc1: *spamApTask7: Mar 01 00:00:12.345: %CAPWAP-3-ERR: text                  wireless controllers
type head struct {
	form                   string
	sent                   *time.Time
	host, app, process, id string
	severity               int               // that the id says; -1: it says none
	data                   map[string]string // what else it says
}

// readHead reads the head of a message whose priority is cut off. Its form is unknown where neither a time nor
// anything of a device is found.
func readHead(s string, came time.Time) (h head, text string) {
	h = head{form: formUnknown, severity: -1}
	line := strings.TrimLeft(s, " ")
	if behind, ok := strings.CutPrefix(line, "1 "); ok { // Meraki's version, which is not that of RFC 5424
		if _, _, ok := cutSeconds(behind); ok {
			line = behind
		}
	}
	if rest, ok := h.front(line, came); ok {
		return h, h.vendor(rest)
	}
	h = head{form: formUnknown, severity: -1}
	return h, h.vendor(s)
}

// front reads everything in front of the text and of the name that a device gives its message. It fails where that is not
// what comes after it.
func (h *head) front(s string, came time.Time) (rest string, ok bool) {
	rest = h.numbers(s)
	for range 3 {
		if rest, ok := h.time(rest, came); ok {
			return h.origin(rest, came), true
		}
		if _, ok := cutMnemonic(rest); ok {
			return rest, true
		}
		if rest, ok = h.label(rest); !ok {
			return s, false
		}
	}
	return s, false
}

// numbers cuts off the counter of messages and the sequence number of IOS.
func (h *head) numbers(s string) (rest string) {
	rest = strings.TrimLeft(strings.TrimPrefix(s, ":"), " ")
	for _, name := range []string{"counter", "sequence"} {
		end := 0
		for end < len(rest) && isDigit(rest[end]) {
			end++
		}
		if end == 0 || end > 20 || !strings.HasPrefix(rest[end:], ": ") {
			break
		}
		h.add(name, rest[:end])
		rest = strings.TrimLeft(rest[end+1:], " ")
	}
	return rest
}

// label cuts off one of the names in front of a time: that of a host or a task, which a colon follows, that of a node of
// IOS-XR, which the time follows, or that of a host in front of a node.
func (h *head) label(s string) (rest string, ok bool) {
	word, rest, ok := cutWord(s)
	if !ok {
		return s, false
	}
	if node, _, ok := strings.Cut(word, ":"); ok && strings.Contains(node, "/") {
		h.add("node", node)
		return s[len(node)+1:], true
	}
	name, colon := strings.CutSuffix(word, ":")
	task, isTask := strings.CutPrefix(name, "*")
	switch {
	case !colon:
		next, _, _ := strings.Cut(rest, ":")
		if !strings.Contains(next, "/") || strings.Contains(next, " ") {
			return s, false
		}
		h.host = name
	case isTask:
		h.app = task
	case isHost(name) && h.host == "":
		h.host = name
	default:
		return s, false
	}
	return rest, true
}

// time cuts off a time and what follows it: its zone, and a space, a colon or both.
func (h *head) time(s string, came time.Time) (rest string, ok bool) {
	clock := ""
	switch {
	case strings.HasPrefix(s, "*"):
		clock = "not set"
	case strings.HasPrefix(s, "."):
		clock = "not synchronized"
	}
	if clock != "" {
		s = s[1:]
	}
	found, rest, ok := cutStamp(s, came)
	if !ok {
		return s, false
	}
	if found.running != "" {
		behind, ok := strings.CutPrefix(rest, ": ")
		if _, device := cutMnemonic(behind); !ok || !device {
			return s, false
		}
		h.add("running", found.running)
		return rest, true
	}
	found, rest = found.cutZone(rest)
	if rest != "" && rest[0] != ' ' && rest[0] != ':' {
		return s, false
	}
	if clock != "" {
		h.add("clock", clock)
	}
	h.form, h.sent = formOld, &found.at
	return rest, true
}

// origin cuts off what says where a message is from, behind its time: a host, unless a colon ends the time, and a program.
func (h *head) origin(s string, came time.Time) (rest string) {
	rest = strings.TrimLeft(s, " ")
	if behind, ok := strings.CutPrefix(rest, ":"); ok {
		rest = strings.TrimLeft(behind, " ")
	} else if _, ok := cutMnemonic(rest); !ok {
		rest = h.named(rest, came)
	}
	if _, ok := cutMnemonic(rest); ok {
		return rest
	}
	app, process, behind, ok := cutTag(rest)
	if !ok {
		return rest
	}
	h.app, h.process = app, process
	if number, text, ok := strings.Cut(behind, ": "); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		if _, ok := cutMnemonic(text); ok { // Arista's sequence number
			h.add("sequence", number)
			return text
		}
	}
	return behind
}

// named cuts off the host, and the head of a device that a relay has put its own in front of. The device's own name for
// itself is its host then.
func (h *head) named(s string, came time.Time) (rest string) {
	word, rest, ok := cutWord(s)
	if !ok || rest == "" || !isHost(word) {
		return s
	}
	if h.host == "" {
		h.host = word
	}
	rest = strings.TrimLeft(strings.TrimPrefix(rest, ": "), " ")
	if rest == "" || !strings.ContainsRune(":*0123456789", rune(rest[0])) {
		return rest
	}
	inner := head{form: h.form, sent: h.sent, severity: -1}
	text, _ := inner.front(rest, came)
	if _, ok := cutMnemonic(text); !ok {
		return rest
	}
	inner.host = cmp.Or(inner.host, h.host)
	*h = inner
	return text
}

// add notes what no column is for.
func (h *head) add(name, value string) {
	if h.data == nil {
		h.data = map[string]string{}
	}
	h.data[name] = value
}

// cutWord cuts off what is in front of a space, which is printable ASCII, and the spaces.
func cutWord(s string) (word, rest string, ok bool) {
	word, rest, _ = strings.Cut(s, " ")
	if word == "" || len(word) > 255 {
		return "", s, false
	}
	for i := range len(word) {
		if word[i] <= ' ' || word[i] >= 0x7f {
			return "", s, false
		}
	}
	return word, strings.TrimLeft(rest, " "), true
}

// isHost reports whether a word can be the name or the address of a host: what has a colon is an address.
func isHost(word string) bool {
	if !strings.Contains(word, ":") {
		return true
	}
	_, err := netip.ParseAddr(word)
	return err == nil
}

// cutTag cuts off the program and its process: app[pid]: text.
func cutTag(s string) (app, process, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] > ' ' && s[end] < 0x7f && s[end] != ':' && s[end] != '[' {
		end++
	}
	app, rest = s[:end], s[end:]
	if end == 0 || end > 48 {
		return "", "", s, false
	}
	if inside, ok := strings.CutPrefix(rest, "["); ok {
		end := strings.IndexAny(inside, " []")
		if end < 0 || inside[end] != ']' {
			return "", "", s, false
		}
		process, rest = inside[:end], inside[end+1:]
	}
	rest, ok = strings.CutPrefix(rest, ": ")
	return app, process, rest, ok
}
