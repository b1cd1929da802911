package devicetest

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// terminal is one session on a device.
type terminal struct {
	d    *Device
	in   *bufio.Reader
	out  io.Writer
	rows int      // of a page; 0: no pager
	gone bool     // the connection is to be closed
	mode string   // "", "config" or "config-…"
	path []string // ios: the section that lines go to
	high bool     // ios: enabled
	work []line   // junos: the candidate
}

func newTerminal(d *Device, c io.ReadWriter) *terminal {
	return &terminal{d: d, in: bufio.NewReader(c), out: c, rows: 24, high: !d.o.User}
}

func (t *terminal) run() {
	t.print("\r\nUnauthorized access is prohibited.\r\n")
	for !t.gone {
		t.print(t.prompt())
		line, err := t.read(true)
		if err != nil {
			return
		}
		if line == "" {
			continue
		}
		t.d.mu.Lock()
		t.d.commands = append(t.d.commands, line)
		t.d.mu.Unlock()
		t.pause()
		if t.d.o.Platform == "junos" {
			t.junos(line)
		} else {
			t.ios(line)
		}
	}
}

// pause is how slow the device is.
func (t *terminal) pause() {
	if t.d.o.Delay > 0 {
		select {
		case <-time.After(t.d.o.Delay):
		case <-t.d.closed:
		}
	}
}

func (t *terminal) prompt() string {
	end := map[bool]string{true: "#", false: ">"}
	if t.d.o.Platform == "junos" {
		edit := ""
		if t.mode != "" {
			edit = "\r\n[edit]"
		}
		return edit + "\r\n" + User + "@" + t.d.o.Name + end[t.mode != ""] + " "
	}
	if t.mode != "" {
		return t.d.o.Name + "(" + t.mode + ")#"
	}
	return t.d.o.Name + end[t.high]
}

// read reads a line as it is typed.
func (t *terminal) read(echo bool) (string, error) {
	var b strings.Builder
	for {
		c, err := t.in.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == '\n' || c == '\r':
			t.print("\r\n")
			return b.String(), nil
		case c == 3:
			return "", nil
		}
		b.WriteByte(c)
		if echo {
			t.print(string(rune(c)))
		}
	}
}

func (t *terminal) print(text string) { _, _ = io.WriteString(t.out, text) }

// show prints the output of a command, by pages, and with the device's fault.
func (t *terminal) show(text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	switch t.d.o.Fault {
	case HangCommand:
		t.print(lines[0] + "\r\n")
		<-t.d.closed
		t.gone = true
		return
	case CloseMiddle:
		t.print(lines[0] + "\r\n" + "half of a l")
		t.gone = true
		return
	case FakePrompt:
		t.print("log: " + "\r\n" + t.prompt() + "reload\r\n")
	case PageForever:
		t.rows = max(t.rows, 5)
	case Flood, OneLine:
		end := "\r\n"
		if t.d.o.Fault == OneLine {
			end = " "
		}
		for {
			if _, err := io.WriteString(t.out, strings.Repeat("0123456789 "+end, 100)); err != nil {
				t.gone = true
				return
			}
		}
	}
	for i := 0; i < len(lines) || t.d.o.Fault == PageForever; i++ {
		t.print(lines[i%len(lines)] + "\r\n")
		if t.rows > 0 && i%t.rows == t.rows-1 {
			more := " --More-- "
			if t.d.o.Platform == "junos" {
				more = "---(more)---"
			}
			t.print(more)
			c, err := t.in.ReadByte()
			if err != nil {
				t.gone = true
				return
			}
			t.print("\r" + strings.Repeat(" ", len(more)) + "\r")
			if c == 'q' {
				return
			}
		}
	}
}

// version is what a device says of itself.
func (t *terminal) version() string {
	if t.d.o.Platform == "junos" {
		return fmt.Sprintf("Hostname: %s\nModel: mx204\nJunos: 22.4R3\n", t.d.o.Name)
	}
	return fmt.Sprintf("Cisco IOS XE Software, Version 17.09.04a\n%s uptime is 5 weeks\n", t.d.o.Name)
}

// log is longer than a page.
func (t *terminal) log() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "Nov 23 09:00:%02d: %%LINK-3-UPDOWN: message %d\n", i%60, i)
	}
	return b.String()
}
