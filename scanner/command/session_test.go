package command_test

import (
	"testing"

	"github.com/svc-gateway/svc/scanner/command"
)

// What is sent to a device is only harmless when no device reads more into it.
func TestAnalyzeDevice(t *testing.T) {
	for _, tt := range []struct {
		text string
		want command.Class
	}{
		{"show version", command.ReadOnly},
		{"show ip interface brief", command.ReadOnly},
		{"show running-config | include ntp server", command.ReadOnly},
		{"show configuration | display set", command.ReadOnly},
		{"show log messages | match error", command.ReadOnly},
		{"dir", command.Unknown}, // a program of a host as well
		{"", command.Unknown},
		{"sh ver", command.Unknown},
		{"sho version", command.Unknown},
		{"do show version", command.Unknown},
		{"run show version", command.Unknown},
		{"show version ; reload", command.Unknown},
		{"show version | include x ; reload", command.Unknown},
		{"show version | include x > bootflash:y", command.Unknown},
		{"show version |redirect flash:x", command.Unknown},
		{"show version|redirect flash:x", command.Unknown},
		{"show version | redirect flash:x", command.Unknown},
		{"show version | include a | redirect flash:x", command.Unknown},
		{"show version | save x", command.Unknown},
		{"show running-config > tftp:x", command.Unknown},
		{"show tech-support tftp://10.0.0.1/x", command.Unknown},
		{"show ?", command.Unknown},
		{"show version\x1a", command.Unknown},
		{"show ver\x08\x08", command.Unknown},
		{"edge1# show version", command.Unknown},
		{"show version\nreload", command.Dangerous},
		{"test cable-diagnostics tdr interface gi1", command.Unknown},
		{"tclsh", command.Unknown},
		{"reload", command.Dangerous},
		{"write erase", command.Dangerous},
		{"ntp server 10.0.0.5", command.Mutate},
		{"interface GigabitEthernet1\n shutdown", command.Dangerous},
		{"set system ntp server 10.0.0.5", command.Unknown},
		{"df -h", command.Unknown},
	} {
		if got := command.AnalyzeDevice(tt.text); got.Class != tt.want {
			t.Errorf("%q: got %s, want %s: %v", tt.text, got.Class, tt.want, got.Spans)
		}
	}
}

// Nothing that reads only holds a character that is more than a word's to some device.
func FuzzAnalyzeDevice(f *testing.F) {
	f.Add("show version | include x")
	f.Add("show ip route | begin 10.\n")
	f.Fuzz(func(t *testing.T, text string) {
		if command.AnalyzeDevice(text).Class != command.ReadOnly {
			return
		}
		for _, r := range text {
			if r != '\n' && r != '\r' && r != '\t' && (r < ' ' || r > '~') || r == ';' || r == '<' || r == '>' || r == '`' || r == '&' {
				t.Errorf("%q only reads, with %q", text, r)
			}
		}
	})
}

// To a host, the words of devices are programs that nobody knows.
func TestAnalyzeHost(t *testing.T) {
	for _, tt := range []struct {
		text string
		want command.Class
	}{
		{"df -h", command.ReadOnly},
		{"ip -br addr", command.ReadOnly},
		{"uptime; free -m", command.ReadOnly},
		{"show version", command.Unknown},
		{"show version | include x", command.Unknown},
		{"display version", command.Unknown},
		{"sh -c 'show version'", command.Unknown},
		{"edge1# show version", command.Unknown},
		{"interface print", command.Unknown},
		{"rm -rf /", command.Dangerous},
		{"", command.Unknown},
	} {
		if got := command.AnalyzeHost(tt.text); got.Class != tt.want {
			t.Errorf("%q: got %s, want %s: %v", tt.text, got.Class, tt.want, got.Spans)
		}
	}
}
