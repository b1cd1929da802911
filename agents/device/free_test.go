package device_test

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// What is sent to a device is only free when no device reads more into it; to a host, the words of devices
// are programs that nobody knows.
func TestFree(t *testing.T) {
	tool := device.CommandTool(device.New(device.Config{}), rack, time.Minute)
	for on, lines := range map[string][]struct {
		text string
		want command.Class
	}{
		"edge1": {
			{"show version", command.ReadOnly},
			{"show ip interface brief", command.ReadOnly},
			{"show running-config | include ntp server", command.ReadOnly},
			{"show configuration | display set", command.ReadOnly},
			{"show log messages | match error", command.ReadOnly},
			{"dir", command.Unknown}, // a program of a host as well
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
			{"show tech-support all binary bootflash:x", command.Unknown},
			{"show logging process wncd to-file flash:x", command.Unknown},
			{"show platform hardware qfp active statistics drop clear", command.Unknown},
			{"request support x", command.Unknown},
			{"execute date 2020-01-01", command.Unknown},
			{"display diagnostic-information flash:/x.txt", command.Unknown},
			{"edge1# show version", command.Unknown},
			{"test cable-diagnostics tdr interface gi1", command.Unknown},
			{"tclsh", command.Unknown},
			{"reload", command.Dangerous},
			{"write erase", command.Dangerous},
			{"ntp server 10.0.0.5", command.Mutate},
			{"set system ntp server 10.0.0.5", command.Unknown},
			{"df -h", command.Unknown},
		},
		"host1": {
			{"df -h", command.ReadOnly},
			{"ip -br addr", command.ReadOnly},
			{"uptime; free -m", command.ReadOnly},
			{"wg show wg0 private-key", command.Unknown},
			{"npm view x", command.Unknown},
			{"ipmitool -H 1.1.1.1 sensor", command.Unknown},
			{"redis-cli monitor", command.Unknown},
			{"cat /etc/shadow", command.Unknown},
			{"less /var/log/syslog", command.Unknown},
			{"sudo -l", command.Unknown},
			{"ethtool -t eth0", command.Unknown},
			{"show version", command.Unknown},
			{"show version | include x", command.Unknown},
			{"display version", command.Unknown},
			{"sh -c 'show version'", command.Unknown},
			{"edge1# show version", command.Unknown},
			{"interface print", command.Unknown},
			{"rm -rf /", command.Dangerous},
		},
	} {
		for _, tt := range lines {
			got := tool.Class(map[string]any{"command": tt.text, "devices": list(on)})
			if got.Refused != "" || got.Command.Class != tt.want || (got.Action == policy.Use) != (tt.want == command.ReadOnly) {
				t.Errorf("%q on %s: got %s %s %s, want %s", tt.text, on, got.Refused, got.Action, got.Command.Class, tt.want)
			}
		}
	}
}

// Nothing is free that holds a character which is more than a word's to some device, or begins with a word
// that may stand for another one.
func FuzzFree(f *testing.F) {
	f.Add("show version | include x")
	f.Add("show ip route | begin 10.")
	f.Add("show version |redirect flash:x")
	tool := device.CommandTool(device.New(device.Config{}), rack, time.Minute)
	f.Fuzz(func(t *testing.T, text string) {
		got := tool.Class(map[string]any{"command": text, "devices": list("edge1")})
		if got.Action != policy.Use {
			return
		}
		for _, r := range text {
			if r != '\t' && r != '\n' && r != '\r' && (r < ' ' || r > '~') || r == ';' || r == '<' || r == '>' || r == '`' || r == '&' || r == '?' {
				t.Errorf("%q is free, with %q", text, r)
			}
		}
	})
}
