package syslog

import (
	"strings"
)

// mnemonic is the name that a device gives its message.
type mnemonic struct {
	id       string // SYS-5-CONFIG_I
	facility string // SYS
	severity int
	rest     string // the text behind it
	cisco    bool
}

// cutMnemonic cuts off the name of a message: %SYS-5-CONFIG_I: as Cisco's devices send it, and others after them, and
// %%01IFNET/4/LINK_STATE(l)[12]: of Huawei and H3C.
func cutMnemonic(s string) (m mnemonic, ok bool) {
	if !strings.HasPrefix(s, "%") {
		return mnemonic{}, false
	}
	if vdc, ok := strings.CutPrefix(s, "%$VDC-"); ok { // NX-OS, where there are several devices in one
		if _, s, ok = strings.Cut(vdc, "$ "); !ok {
			return mnemonic{}, false
		}
	}
	name, rest, found := strings.Cut(s, ":")
	if !found || len(name) > 128 {
		return mnemonic{}, false
	}
	name, parts := strings.TrimSuffix(name[1:], " "), "-"
	if huawei, ok := strings.CutPrefix(name, "%"); ok {
		name, parts = strings.TrimLeft(huawei, "0123456789"), "/"
		name, _, _ = strings.Cut(name, "(")
	}
	for i := range len(name) {
		if b := name[i]; !isDigit(b) && (b|0x20 < 'a' || b|0x20 > 'z') && b != '_' && b != '-' && b != '/' {
			return mnemonic{}, false
		}
	}
	for at := 1; at+2 < len(name); at++ {
		if name[at:at+1] == parts && name[at+1] >= '0' && name[at+1] <= '7' && name[at+2:at+3] == parts && len(name) > at+3 {
			return mnemonic{
				id: name, facility: name[:at], severity: int(name[at+1] - '0'), rest: strings.TrimLeft(rest, " "), cisco: parts == "-",
			}, true
		}
	}
	return mnemonic{}, false
}

// vendor reads what a device says of its message at the beginning of the text, and returns the text.
func (h *head) vendor(s string) (text string) {
	if m, ok := cutMnemonic(s); ok {
		h.id, h.severity = m.id, m.severity
		if h.app == "" {
			h.app = m.facility
		}
		if m.cisco {
			h.form = formCisco
		}
		return m.rest
	}
	switch {
	case h.app != "":
		h.id = junosID(s)
	case h.pairs(s), h.topics(s):
	}
	return s
}

// junosID is the name that a message of Junos begins with: RPD_BGP_NEIGHBOR_STATE_CHANGED. The text keeps it: programs
// write the like.
func junosID(s string) string {
	name, _, found := strings.Cut(s, ": ")
	if !found || len(name) > 64 || !strings.Contains(name, "_") || name[0] < 'A' || name[0] > 'Z' || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return ""
	}
	return name
}

// topics reads the topics of RouterOS in front of a text, of which one is a severity: system,info,account.
func (h *head) topics(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	word = strings.TrimSuffix(word, ":")
	first, _, several := strings.Cut(word, ",")
	if !several || len(word) > 64 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-,") != "" {
		return false
	}
	for topic := range strings.SplitSeq(word, ",") {
		if severity, ok := topicSeverities[topic]; ok {
			h.form, h.app, h.id, h.severity = formMikroTik, first, word, severity
			return true
		}
	}
	return false
}

var topicSeverities = map[string]int{"critical": 2, "error": 3, "warning": 4, "info": 6, "debug": 7, "packet": 7}

// pairs reads what FortiOS sends: date=2024-03-01 time=12:00:00 devname="fw1" logid="0100032001" …, with spaces or commas
// between them.
func (h *head) pairs(s string) bool {
	if first, _, ok := strings.Cut(s, "="); !ok || !fortinetFirst[first] {
		return false
	}
	data := map[string]string{}
	for rest := s; rest != ""; rest = strings.TrimLeft(rest, " ,") {
		name, value, ok := strings.Cut(rest, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \",") {
			break // the text goes on without pairs
		}
		value, rest = cutValue(value)
		if _, twice := data[name]; !twice { // what somebody else has put into a value may look like a pair, behind those of the device
			data[name] = value
		}
	}
	if data["devid"] == "" || data["logid"] == "" && data["log_id"] == "" {
		return false
	}
	h.form, h.app, h.id, h.data = formFortinet, data["type"], data["logid"]+data["log_id"], data
	if data["devname"] != "" {
		h.host = data["devname"]
	}
	if severity, ok := fortinetSeverities[data["level"]]; ok {
		h.severity = severity
	}
	if day, _, ok := cutDate(data["date"] + "T" + data["time"]); ok {
		if offset, _, ok := cutOffset(data["tz"]); ok {
			day = day.in(offset)
		}
		h.sent = &day.at
	}
	return true
}

// fortinetFirst are the names that a message of FortiOS can begin with.
var fortinetFirst = map[string]bool{"date": true, "logver": true, "timestamp": true, "devname": true, "devid": true, "eventtime": true}

var fortinetSeverities = map[string]int{"emergency": 0, "alert": 1, "critical": 2, "error": 3, "warning": 4, "notice": 5, "information": 6, "debug": 7}

var escapes = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// cutValue cuts off the value of a pair, which may be in quotes.
func cutValue(s string) (value, rest string) {
	quoted, ok := strings.CutPrefix(s, `"`)
	if !ok {
		if end := strings.IndexAny(s, " ,"); end >= 0 {
			return s[:end], s[end:]
		}
		return s, ""
	}
	for i := 0; i < len(quoted); i++ {
		switch quoted[i] {
		case '\\':
			i++
		case '"':
			return escapes.Replace(quoted[:i]), quoted[i+1:]
		}
	}
	return quoted, ""
}
