package syslog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	gosyslog "github.com/leodido/go-syslog/v4"
	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/svc-gateway/svc/internal/duckwire"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

// The forms of messages.
const (
	formNew      = "rfc5424"
	formOld      = "rfc3164" // with its variations
	formCisco    = "cisco"   // the text begins with %FACILITY-SEVERITY-MNEMONIC
	formFortinet = "fortinet"
	formMikroTik = "mikrotik"
	formUnknown  = "unknown" // the text is all that came, but for the priority
)

// arrival is a message as it came in.
type arrival struct {
	raw       []byte
	at        time.Time
	sender    string
	transport string
	truncated bool // there was more
}

// parser reads messages. It is not safe for concurrent use.
type parser struct{ recent gosyslog.Machine }

func newParser() *parser { return &parser{recent: rfc5424.NewParser()} }

// parse never fails: what has no known form is a message with all of the text.
func (p *parser) parse(a arrival) duckwire.Message {
	m := duckwire.Message{
		Received: a.at.UTC(), Sender: a.sender, Transport: a.transport, Truncated: a.truncated,
	}
	raw := bytes.TrimRight(a.raw, "\r\n\x00")
	if !p.readNew(&m, raw) {
		readOld(&m, raw, a.at)
	}
	for _, field := range []*string{&m.Text, &m.Data, &m.Process, &m.Host, &m.App, &m.ID} {
		*field = storable(*field)
		if m.Injection == "" {
			m.Injection = injection(*field)
		}
	}
	return m
}

// readNew reads a message of RFC 5424.
func (p *parser) readNew(m *duckwire.Message, raw []byte) bool {
	if _, rest, ok := cutPriority(raw); !ok || !bytes.HasPrefix(rest, []byte("1 ")) {
		return false // faster than the library
	}
	found, err := p.recent.Parse(printable(raw))
	five, ok := found.(*rfc5424.SyslogMessage)
	if err != nil || !ok || five == nil {
		return false
	}
	m.Format = formNew
	fill(m, five.Base)
	m.Text = strings.TrimPrefix(textOf(raw, five.Message), "\ufeff")
	if five.StructuredData != nil {
		data, err := json.Marshal(*five.StructuredData)
		if err != nil {
			return false
		}
		m.Data = string(data)
	}
	if name, ok := cutMnemonic(m.Text); ok && m.ID == "" { // ASA, with logging timestamp rfc5424
		m.ID = name.id
	}
	return true
}

// readOld reads every other message.
func readOld(m *duckwire.Message, raw []byte, came time.Time) {
	rest := raw
	priority, behind, found := cutPriority(raw)
	if found {
		rest = behind
	}
	h, text := readHead(string(rest), came)
	switch {
	case found:
		fill(m, base(priority))
	case h.severity >= 0:
		fill(m, severityOf(h.severity))
	}
	m.Format, m.Sent, m.Host, m.App, m.Process, m.ID, m.Text = h.form, h.sent, h.host, h.app, h.process, h.id, text
	if len(h.data) > 0 {
		if data, err := json.Marshal(h.data); err == nil {
			m.Data = string(data)
		}
	}
}

// printable is a message for the parsers, which take no control characters: each is a space there.
func printable(raw []byte) []byte {
	if bytes.IndexFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0 {
		return raw
	}
	line := bytes.Clone(raw)
	for i, b := range line {
		if b < ' ' || b == 0x7f {
			line[i] = ' '
		}
	}
	return line
}

// textOf is the text that a message ends in, with its control characters.
func textOf(raw []byte, text *string) string {
	if text == nil {
		return ""
	}
	return string(raw[len(raw)-len(*text):])
}

// cutPriority cuts <N> off.
func cutPriority(raw []byte) (priority uint8, rest []byte, ok bool) {
	number, rest, found := bytes.Cut(raw, []byte(">"))
	if !found || len(number) < 2 || len(number) > 4 || number[0] != '<' {
		return 0, nil, false
	}
	n, err := strconv.ParseUint(string(number[1:]), 10, 8)
	if err != nil || n > 191 {
		return 0, nil, false
	}
	return uint8(n), rest, true
}

func base(priority uint8) (b gosyslog.Base) {
	b.ComputeFromPriority(priority)
	return b
}

// severityOf is what a device says where there is no priority.
func severityOf(severity int) (b gosyslog.Base) {
	b = base(uint8(severity))
	b.Facility = nil
	return b
}

// fill copies what both forms have.
func fill(m *duckwire.Message, b gosyslog.Base) {
	if b.Severity != nil {
		severity := int(*b.Severity)
		m.Severity = &severity
	}
	m.Sent = b.Timestamp
	for to, from := range map[*string]*string{
		&m.Facility: b.FacilityLevel(), &m.Level: b.SeverityShortLevel(), &m.Host: b.Hostname, &m.App: b.Appname, &m.Process: b.ProcID, &m.ID: b.MsgID,
	} {
		if from != nil {
			*to = *from
		}
	}
}

// storable is a text that the database takes: UTF-8 without NUL.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\u2400")
}

// injection is the category of what looks like an instruction to an agent, empty if nothing does.
func injection(text string) string {
	for _, f := range inject.Scan(text) {
		if f.Confidence == scanner.High {
			return string(f.Category)
		}
	}
	return ""
}
