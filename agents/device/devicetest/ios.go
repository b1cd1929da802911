package devicetest

import (
	"slices"
	"strings"
)

const invalid = "                    ^\n% Invalid input detected at '^' marker.\n"

// ios does what IOS does at a line.
func (t *terminal) ios(text string) {
	d := t.d
	if t.mode != "" {
		t.configure(text)
		return
	}
	switch {
	case text == "enable":
		t.print("Password: ")
		got, _ := t.read(false)
		if d.o.Fault == HangEnable {
			<-d.closed
			t.gone = true
			return
		}
		if t.high = got == Enable; !t.high {
			t.print("% Access denied\r\n")
		}
	case strings.HasPrefix(text, "terminal length "):
		t.rows = map[bool]int{true: 0, false: 24}[strings.HasSuffix(text, " 0")]
	case strings.HasPrefix(text, "terminal width "):
	case text == "show version":
		t.show(t.version())
	case text == "show logging":
		t.show(t.log())
	case text == "show ip interface brief":
		t.show("Interface              IP-Address      OK? Method Status                Protocol\nGigabitEthernet1       10.0.0.1        YES NVRAM  up                    up\n")
	case text == "show running-config" && t.high:
		t.show("Building configuration...\n\nCurrent configuration : 1234 bytes\n!\n! Last configuration change at 09:00:00 UTC\n" + d.Running() + "end\n")
	case text == "configure terminal" && t.high:
		t.mode = "config"
		t.print("Enter configuration commands, one per line.  End with CNTL/Z.\r\n")
	case text == "write memory" && t.high:
		d.mu.Lock()
		d.saved = true
		d.mu.Unlock()
		t.print("Building configuration...\r\n[OK]\r\n")
	case text == "reload" && t.high:
		t.print("Proceed with reload? [confirm]")
		_, _ = t.read(false)
		t.gone = true
	case text == "exit":
		t.gone = true
	default:
		t.print(strings.ReplaceAll(invalid, "\n", "\r\n"))
	}
}

// configure does what IOS does at a line of configuration.
func (t *terminal) configure(text string) {
	d := t.d
	word, _, _ := strings.Cut(strings.TrimPrefix(text, "no "), " ")
	switch {
	case text == "end":
		t.mode, t.path = "", nil
		return
	case text == "exit" && t.path != nil:
		t.mode, t.path = "config", nil
		return
	case text == "exit":
		t.mode = ""
		return
	case word == "bogus":
		t.print(strings.ReplaceAll(invalid, "\n", "\r\n"))
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	global := slices.Contains([]string{"interface", "ntp", "hostname", "snmp-server", "router", "logging", "tacacs-server", "radius"}, word)
	if global {
		t.mode, t.path = "config", nil
	}
	takesBack := strings.HasPrefix(text, "no ")
	if d.o.Fault != IgnoreChange && (d.o.Fault != StickyChange || !takesBack) {
		d.config = enter(d.config, t.path, text)
	}
	if (d.o.Fault == ChangeMore || d.o.Fault == StickyChange) && !takesBack && !d.more {
		d.more = true
		d.config = enter(d.config, nil, "ip http server")
	}
	if !takesBack && (word == "interface" || word == "router" || word == "radius") {
		t.mode, t.path = "config-if", []string{text}
	}
	if rest, ok := strings.CutPrefix(text, "hostname "); ok {
		d.o.Name = rest
	}
	d.saved = false
}
