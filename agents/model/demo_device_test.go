package model

import "testing"

// What the demo model makes of sentences about devices, and of such that only look like them.
func TestDevices(t *testing.T) {
	for _, tt := range []struct{ text, tool, args string }{
		{"run show version on edge1", "device_command", `{"command":"show version","devices":["edge1"]}`},
		{"run show version on device edge1.ams", "device_command", `{"command":"show version","devices":["edge1.ams"]}`},
		{"show ip interface brief on group core", "device_command", `{"command":"show ip interface brief","group":"core"}`},
		{"run `uptime` on group site:ams", "device_command", `{"command":"uptime","group":"site:ams"}`},
		{"run uptime on devices host1, host2 and host3", "device_command", `{"command":"uptime","devices":["host1","host2","host3"]}`},
		{"run reload on edge1 and answer enter", "device_command", `{"answers":[""],"command":"reload","devices":["edge1"]}`},
		{"set ntp server 10.0.0.9 on edge1", "device_config", `{"device":"edge1","lines":"ntp server 10.0.0.9"}`},
		{"remove ntp server 10.0.0.5 on edge1", "device_config", `{"device":"edge1","lines":"no ntp server 10.0.0.5"}`},
		{"configure edge1: interface Gi1;  description x; ntp server 10.0.0.9", "device_config", `{"device":"edge1","lines":"interface Gi1\n description x\nntp server 10.0.0.9"}`},
		{"import inventory devices.yaml", "import_inventory", `{"path":"devices.yaml"}`},
		{"which devices are there?", "query_database", `{"sql":"SELECT name, address, platform, site, role FROM inventory ORDER BY name LIMIT 50"}`},
		{"which devices are in group core?", "query_database", `{"sql":"SELECT name, address, platform, site, role FROM inventory WHERE list_contains(groups, 'core') ORDER BY name LIMIT 50"}`},
		{"run echo step on it", "run_command", `{"command":"echo step on it"}`},
		{"run ls -la", "run_command", `{"command":"ls -la"}`},
	} {
		q := ask(tt.text)
		found := q.topics()
		if len(found) != 1 || found[0].tool != tt.tool || found[0].call(q) != tt.args {
			t.Errorf("%s: got %v", tt.text, found)
			for _, f := range found {
				t.Log(f.tool, f.call(q))
			}
		}
	}
	for _, text := range []string{"how full are the disks on this host?", "show app.conf", "what is the load on host"} {
		if found := ask(text).devices(); found != nil {
			t.Errorf("%s: got %s", text, found.tool)
		}
	}
}
