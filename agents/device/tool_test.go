package device_test

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

var rack = shelf{
	{Name: "edge1", Address: "10.0.0.1", Port: 22, Platform: "ios", Groups: []string{"core"}},
	{Name: "edge2", Address: "10.0.0.2", Port: 22, Platform: "junos", Groups: []string{"core", "mixed"}},
	{Name: "host1", Address: "10.0.0.3", Port: 22, Platform: "linux", Groups: []string{"mixed"}},
}

func list(names ...any) []any { return names }

// Only what certainly reads, on each of the platforms, is made without asking.
func TestCommandClass(t *testing.T) {
	tool := device.CommandTool(device.New(device.Config{}), rack, time.Minute)
	for _, tt := range []struct {
		name    string
		args    map[string]any
		action  policy.Action
		class   command.Class
		refused string
		where   string
	}{
		{"show", map[string]any{"command": "show version", "devices": list("edge1")}, policy.Use, command.ReadOnly, "", "on edge1 (ios, 10.0.0.1:22), over SSH"},
		{"show on a group", map[string]any{"command": "show version", "group": "core"}, policy.Use, command.ReadOnly, "", "on 2 devices over SSH: edge1 (ios, 10.0.0.1:22), edge2 (junos, 10.0.0.2:22)"},
		{"show on a host", map[string]any{"command": "show version", "devices": list("host1")}, policy.Mutate, command.Unknown, "", "on host1 (linux, 10.0.0.3:22), over SSH"},
		{"df on a host", map[string]any{"command": "df -h", "devices": list("host1")}, policy.Use, command.ReadOnly, "", "on host1 (linux, 10.0.0.3:22), over SSH"},
		{"df on a device", map[string]any{"command": "df -h", "devices": list("edge1")}, policy.Mutate, command.Unknown, "", "on edge1 (ios, 10.0.0.1:22), over SSH"},
		{"a key of a host", map[string]any{"command": "cat /root/.ssh/id_rsa", "devices": list("host1")}, policy.Mutate, command.Unknown, "", "on host1 (linux, 10.0.0.3:22), over SSH"},
		{"show on both", map[string]any{"command": "show version", "group": "mixed"}, policy.Mutate, command.Unknown, "group_not_named: this command may change something", ""},
		{"reload", map[string]any{"command": "reload", "devices": list("edge1")}, policy.Mutate, command.Dangerous, "", "on edge1 (ios, 10.0.0.1:22), over SSH"},
		{"reload of a group", map[string]any{"command": "reload", "group": "core"}, policy.Mutate, command.Dangerous, "group_not_named: this command may change something, so its devices are named one by one, for who approves it to see: call it with devices, which for core are edge1, edge2", ""},
		{"show with an answer", map[string]any{"command": "show version", "devices": list("edge1"), "answers": list("y")}, policy.Mutate, command.Unknown, "", "on edge1 (ios, 10.0.0.1:22), over SSH"},
		{"two commands", map[string]any{"command": "show version\nreload", "devices": list("edge1")}, policy.Mutate, "", "invalid_arguments: ", ""},
		{"both", map[string]any{"command": "show version", "devices": list("edge1"), "group": "core"}, policy.Mutate, "", `invalid_arguments: give either "devices" or "group"`, ""},
		{"nobody", map[string]any{"command": "show version"}, policy.Mutate, "", `invalid_arguments: give either "devices" or "group"`, ""},
		{"unknown", map[string]any{"command": "show version", "devices": list("egde1")}, policy.Mutate, "", `device_not_found: there is no device "egde1"`, ""},
	} {
		got := tool.Class(tt.args)
		if got.Action != tt.action || tt.where != "" && got.Where != tt.where || tt.class != "" && (got.Command == nil || got.Command.Class != tt.class) {
			t.Errorf("%s: got %+v, want %s %s %q", tt.name, got, tt.action, tt.class, tt.where)
		}
		if tt.refused == "" && got.Refused != "" {
			t.Errorf("%s: refused: %s", tt.name, got.Refused)
		}
		contains(t, tt.name, got.Refused, tt.refused)
	}
}

// To look at a change is free, to make one is not, whatever its lines are.
func TestConfigClass(t *testing.T) {
	tool := device.ConfigTool(device.New(device.Config{}), rack, time.Minute)
	for _, tt := range []struct {
		name     string
		args     map[string]any
		action   policy.Action
		category string
		refused  string
	}{
		{"look", map[string]any{"device": "edge1", "lines": "ntp server 10.0.0.9"}, policy.Use, "", ""},
		{"make", map[string]any{"device": "edge1", "lines": "ntp server 10.0.0.9", "diff": "+ ntp server 10.0.0.9"}, policy.Mutate, "device", ""},
		{"a line that looks harmless", map[string]any{"device": "edge1", "lines": "access-list 10 permit any", "diff": "+ x"}, policy.Mutate, "device", ""},
		{"a hidden character", map[string]any{"device": "edge1", "lines": "ntp server 10.0.0.9", "diff": "+ ntp\u202e"}, policy.Use, "", "device_not_changed: the diff has characters"},
		{"the wrong platform", map[string]any{"device": "edge2", "lines": "ntp server 10.0.0.9"}, policy.Use, "", `device_not_changed: "ntp server 10.0.0.9" is no line for Junos`},
		{"a host", map[string]any{"device": "host1", "lines": "x"}, policy.Use, "", `device_not_changed: the configuration of the platform "linux" cannot be changed`},
	} {
		got := tool.Class(tt.args)
		category := ""
		if len(got.Categories) > 0 {
			category = got.Categories[0]
		}
		if got.Action != tt.action || category != tt.category {
			t.Errorf("%s: got %s %q, want %s %q", tt.name, got.Action, category, tt.action, tt.category)
		}
		if tt.refused == "" && got.Refused != "" {
			t.Errorf("%s: refused: %s", tt.name, got.Refused)
		}
		contains(t, tt.name, got.Refused, tt.refused)
	}
}
