package syslog

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	gosyslog "github.com/leodido/go-syslog/v4"
	"github.com/leodido/go-syslog/v4/rfc3164"
	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/svc-gateway/svc/internal/duckwire"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

// The forms of messages.
const (
	formNew     = "rfc5424"
	formOld     = "rfc3164"
	formUnknown = "unknown" // the text is all that came, but for the priority
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
type parser struct{ recent, old gosyslog.Machine }

func newParser() *parser {
	return &parser{
		recent: rfc5424.NewParser(),
		old: rfc3164.NewParser(
			rfc3164.WithYear(rfc3164.CurrentYear{}), rfc3164.WithLocaleTimezone(time.Local), rfc3164.WithRFC3339(), rfc3164.WithSecondFractions()),
	}
}

// parse never fails: what has no known form is a message with all of the text.
func (p *parser) parse(a arrival) duckwire.Message {
	m := duckwire.Message{
		Received: a.at.UTC(), Sender: a.sender, Transport: a.transport, Truncated: a.truncated, Format: formUnknown,
	}
	raw := bytes.TrimRight(a.raw, "\r\n\x00")
	if !p.readNew(&m, raw) && !p.readOld(&m, raw) {
		m.Text = string(raw)
		if priority, rest, ok := cutPriority(raw); ok {
			fill(&m, base(priority))
			m.Text = string(rest)
		}
	}
	if m.ID == "" {
		m.ID = mnemonicOf(m.App + ": " + m.Text)
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
	return true
}

// readOld reads a message of RFC 3164, also one whose time is that of RFC 3339, as rsyslog sends them.
func (p *parser) readOld(m *duckwire.Message, raw []byte) bool {
	line, sent := withoutFraction(printable(raw))
	found, err := p.old.Parse(line)
	three, ok := found.(*rfc3164.SyslogMessage)
	if err != nil || !ok || three == nil {
		return false
	}
	m.Format = formOld
	fill(m, three.Base)
	m.Text = textOf(raw, three.Message)
	switch {
	case sent != nil:
		m.Sent = sent
	case m.Sent != nil && m.Sent.Sub(m.Received) > 24*time.Hour: // it does not say its year: that of December comes in January
		last := m.Sent.AddDate(-1, 0, 0)
		m.Sent = &last
	}
	return true
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

var fraction = regexp.MustCompile(`^<[0-9]{1,3}>([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})(Z|[+-][0-9]{2}:[0-9]{2}) `)

// withoutFraction takes the fraction of a second out of a time of RFC 3339 and returns that time.
func withoutFraction(line []byte) ([]byte, *time.Time) {
	if !bytes.Contains(line[:min(len(line), len("<191>2026-11-23T05:01:02."))], []byte("T")) {
		return line, nil // faster than the expression
	}
	at := fraction.FindSubmatchIndex(line)
	if at == nil {
		return line, nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(line[at[2]:at[7]]))
	if err != nil {
		return line, nil
	}
	return append(bytes.Clone(line[:at[4]]), line[at[5]:]...), &t
}

// mnemonic is how devices of Cisco name a message: %SYS-5-CONFIG_I.
var mnemonic = regexp.MustCompile(`(?:^|[ :])%([A-Z0-9_]+-(?:[A-Z0-9_]+-)?[0-7]-[A-Z0-9_]+):`)

func mnemonicOf(text string) string {
	if !strings.Contains(text, "%") {
		return ""
	}
	if id := mnemonic.FindStringSubmatch(text); id != nil {
		return id[1]
	}
	return ""
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
