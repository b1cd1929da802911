package syslog

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// devices are messages as devices of several vendors send them, and what is read in them: the time (at is 22 November
// 22:14:15.123 of this machine's zone), the host, program[process], level, name, form and text, and the data.
var devices = []struct{ name, in, want, data string }{
	{
		"IOS", "<189>45: *Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured from console by vty0 (192.0.2.9)",
		"at||SYS|notice|SYS-5-CONFIG_I|cisco|Configured from console by vty0 (192.0.2.9)", "clock=not set counter=45",
	},
	{
		"IOS with a synchronized clock", "<189>45: Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45",
	},
	{
		"IOS with a clock that was synchronized", "<189>45: .Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "clock=not synchronized counter=45",
	},
	{
		"IOS with a sequence number", "<189>45: 000485: Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45 sequence=000485",
	},
	{
		"IOS with origin-id hostname", "<189>45: 000485: router1: Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at|router1|SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45 sequence=000485",
	},
	{
		"IOS with origin-id ipv6", "<189>45: 2001:db8::1: Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at|2001:db8::1|SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45",
	},
	{
		"IOS without a counter", "<189>: *Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "clock=not set",
	},
	{
		"IOS with year and zone", "<189>45: Nov 22 2026 22:14:15.123 UTC: %SYS-5-CONFIG_I: Configured",
		"2026-11-22T22:14:15.123Z||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45",
	},
	{
		"IOS in another zone", "<189>45: Nov 22 22:14:15.123 CEST: %SYS-5-CONFIG_I: Configured",
		"2026-11-22T20:14:15.123Z||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45",
	},
	{
		"IOS in a zone of its own", "<189>45: Nov 22 22:14:15.123 HOME: %SYS-5-CONFIG_I: Configured",
		"at||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45",
	},
	{
		"IOS with its uptime", "<187>45: 2d03h: %LINK-3-UPDOWN: Interface GigabitEthernet0/1, changed state to up",
		"||LINK|err|LINK-3-UPDOWN|cisco|Interface GigabitEthernet0/1, changed state to up", "counter=45 running=2d03h",
	},
	{
		"IOS with an uptime of seconds", "<187>45: 00:00:12: %LINK-3-UPDOWN: up",
		"||LINK|err|LINK-3-UPDOWN|cisco|up", "counter=45 running=00:00:12",
	},
	{"IOS without a time", "<189>45: %SYS-5-CONFIG_I: Configured", "||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "counter=45"},
	{
		"IOS by a relay", "<189>Nov 22 22:14:16 192.0.2.1 45: 000485: *Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at|192.0.2.1|SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "clock=not set counter=45 sequence=000485",
	},
	{
		"IOS with origin-id by a relay", "<189>Nov 22 22:14:16 192.0.2.1 45: 000485: router1: *Nov 22 22:14:15.123: %SYS-5-CONFIG_I: Configured",
		"at|router1|SYS|notice|SYS-5-CONFIG_I|cisco|Configured", "clock=not set counter=45 sequence=000485",
	},
	{
		"IOS-XR by a relay", "<189>Nov 22 22:14:16 192.0.2.1 45: core1 RP/0/RP0/CPU0:Nov 22 22:14:15.123 UTC: config[7]: %MGBL-SYS-5-CONFIG_I : Configured",
		"2026-11-22T22:14:15.123Z|core1|config[7]|notice|MGBL-SYS-5-CONFIG_I|cisco|Configured", "counter=45 node=RP/0/RP0/CPU0",
	},
	{
		"NX-OS by a relay", "<189>Nov 22 22:14:16 192.0.2.1 : 2026 Nov 22 22:14:15.123 UTC: %ETHPORT-5-IF_UP: up",
		"2026-11-22T22:14:15.123Z|192.0.2.1|ETHPORT|notice|ETHPORT-5-IF_UP|cisco|up", "",
	},
	{"IOS with a subfacility", "<189>45: %SYS-SP-5-RESTART: System restarted", "||SYS-SP|notice|SYS-SP-5-RESTART|cisco|System restarted", "counter=45"},
	{"IOS without a priority", "%SYS-5-CONFIG_I: Configured", "||SYS|notice|SYS-5-CONFIG_I|cisco|Configured", ""},
	{
		"NX-OS", "<189>: 2026 Nov 22 22:14:15.123 UTC: %ETHPORT-5-IF_DOWN_ADMIN_DOWN: Interface Ethernet1/1 is down",
		"2026-11-22T22:14:15.123Z||ETHPORT|notice|ETHPORT-5-IF_DOWN_ADMIN_DOWN|cisco|Interface Ethernet1/1 is down", "",
	},
	{
		"NX-OS with a host", "<189>2026 Nov 22 22:14:15.123 leaf1 %$VDC-1$ %ETHPORT-5-IF_UP: Interface Ethernet1/1 is up",
		"at|leaf1|ETHPORT|notice|ETHPORT-5-IF_UP|cisco|Interface Ethernet1/1 is up", "",
	},
	{
		"NX-OS with an origin", "<189>: leaf1: 2026 Nov  2 22:14:15 UTC: %ETHPORT-5-IF_UP: up",
		"2026-11-02T22:14:15Z|leaf1|ETHPORT|notice|ETHPORT-5-IF_UP|cisco|up", "",
	},
	{
		"IOS-XR", "<189>45: RP/0/RSP0/CPU0:Nov 22 22:14:15.123 : config[65710]: %MGBL-SYS-5-CONFIG_I : Configured from console by op",
		"at||config[65710]|notice|MGBL-SYS-5-CONFIG_I|cisco|Configured from console by op", "counter=45 node=RP/0/RSP0/CPU0",
	},
	{
		"IOS-XR with a host", "<189>45: core1 RP/0/RP0/CPU0:Nov 22 22:14:15.123 UTC: config[65710]: %MGBL-SYS-5-CONFIG_I : Configured",
		"2026-11-22T22:14:15.123Z|core1|config[65710]|notice|MGBL-SYS-5-CONFIG_I|cisco|Configured", "counter=45 node=RP/0/RP0/CPU0",
	},
	{
		"IOS-XR with a year", "<189>45: core1 LC/0/2/CPU0:2026 Nov 22 22:14:15.123 UTC: ifmgr[142]: %PKT_INFRA-LINK-3-UPDOWN : down",
		"2026-11-22T22:14:15.123Z|core1|ifmgr[142]|notice|PKT_INFRA-LINK-3-UPDOWN|cisco|down", "counter=45 node=LC/0/2/CPU0",
	},
	{"ASA", "<166>%ASA-6-302013: Built outbound TCP connection 1", "||ASA|info|ASA-6-302013|cisco|Built outbound TCP connection 1", ""},
	{"ASA with a time", "<166>Nov 22 2026 22:14:15: %ASA-6-302013: Built", "whole||ASA|info|ASA-6-302013|cisco|Built", ""},
	{"ASA with a host", "<166>Nov 22 2026 22:14:15 fw1 : %ASA-6-302013: Built", "whole|fw1|ASA|info|ASA-6-302013|cisco|Built", ""},
	{
		"ASA with a class", "<166>:Nov 22 22:14:15 UTC: %ASA-session-6-302013: Built",
		"2026-11-22T22:14:15Z||ASA-session|info|ASA-session-6-302013|cisco|Built", "",
	},
	{
		"ASA with a time of RFC 5424", "<166>2026-11-22T22:14:15Z fw1 : %ASA-6-302013: Built",
		"2026-11-22T22:14:15Z|fw1|ASA|info|ASA-6-302013|cisco|Built", "",
	},
	{"ASA as rsyslog sends it on", "<166>2026-11-22T22:14:15Z fw1 %FTD-6-430003: Built", "2026-11-22T22:14:15Z|fw1|FTD|info|FTD-6-430003|cisco|Built", ""},
	{
		"wireless controller", "<132>wlc1: *spamApTask7: Nov 22 22:14:15.123: %CAPWAP-3-DTLS_ERR: capwap.c:44 failed",
		"at|wlc1|spamApTask7|warning|CAPWAP-3-DTLS_ERR|cisco|capwap.c:44 failed", "",
	},
	{
		"EOS", "<189>Nov 22 22:14:15 leaf1 ConfigAgent: 12: %SYS-5-CONFIG_E: Enter configuration mode",
		"whole|leaf1|ConfigAgent|notice|SYS-5-CONFIG_E|cisco|Enter configuration mode", "sequence=12",
	},
	{
		"Junos", "<29>Nov 22 22:14:15  mx1 rpd[1392]: RPD_BGP_NEIGHBOR_STATE_CHANGED: BGP peer 192.0.2.2 changed state",
		"whole|mx1|rpd[1392]|notice|RPD_BGP_NEIGHBOR_STATE_CHANGED|rfc3164|RPD_BGP_NEIGHBOR_STATE_CHANGED: BGP peer 192.0.2.2 changed state", "",
	},
	{
		"Junos with year and milliseconds", "<29>Nov 22 22:14:15.123 2026 mx1 mgd[4153]: UI_COMMIT: User 'op' commits",
		"at|mx1|mgd[4153]|notice|UI_COMMIT|rfc3164|UI_COMMIT: User 'op' commits", "",
	},
	{
		"Junos with explicit-priority", "<29>Nov 22 22:14:15 mx1 chassisd[522]: %DAEMON-6-CHASSISD_PARSE_COMPLETE: Using new configuration",
		"whole|mx1|chassisd[522]|notice|DAEMON-6-CHASSISD_PARSE_COMPLETE|cisco|Using new configuration", "",
	},
	{"Junos kernel", "<4>Nov 22 22:14:15 mx1 /kernel: arp info overwritten", "whole|mx1|/kernel|warning||rfc3164|arp info overwritten", ""},
	{
		"RouterOS", "<30>system,info,account user admin logged in from 192.0.2.9 via ssh",
		"||system|info|system,info,account|mikrotik|system,info,account user admin logged in from 192.0.2.9 via ssh", "",
	},
	{
		"RouterOS without a priority", "firewall,warning drop input: in:ether1 out:(unknown 0)",
		"||firewall|warning|firewall,warning|mikrotik|firewall,warning drop input: in:ether1 out:(unknown 0)", "",
	},
	{
		"RouterOS with bsd-syslog", "<30>Nov 22 22:14:15 gw1 wireless,debug wlan1: connected",
		"whole|gw1|wireless|info|wireless,debug|mikrotik|wireless,debug wlan1: connected", "",
	},
	{
		"FortiOS", `<189>date=2026-11-22 time=22:14:15 devname="fw1" devid="FGT60E4Q" tz="+0100" logid="0100032001" type="event" level="information" msg="Administrator \"op\" logged in, ok" ip=192.0.2.9`,
		`2026-11-22T21:14:15Z|fw1|event|notice|0100032001|fortinet|date=2026-11-22 time=22:14:15 devname="fw1" devid="FGT60E4Q" tz="+0100" logid="0100032001" type="event" level="information" msg="Administrator \"op\" logged in, ok" ip=192.0.2.9`,
		`date=2026-11-22 devid=FGT60E4Q devname=fw1 ip=192.0.2.9 level=information logid=0100032001 msg=Administrator "op" logged in, ok time=22:14:15 type=event tz=+0100`,
	},
	{
		"FortiOS with commas, without a priority", `date=2026-11-22,time=22:14:15,devname="fw1",devid="F",logid="7",type="traffic",level="alert"`,
		`whole|fw1|traffic|alert|7|fortinet|date=2026-11-22,time=22:14:15,devname="fw1",devid="F",logid="7",type="traffic",level="alert"`,
		"date=2026-11-22 devid=F devname=fw1 level=alert logid=7 time=22:14:15 type=traffic",
	},
	{
		"FortiOS with pairs in a value", `<189>date=2026-11-22,time=22:14:15,devname="fw1",devid="F",logid="7",user="x",devname="fw9",date=2020-01-01,y=z`,
		`whole|fw1||notice|7|fortinet|date=2026-11-22,time=22:14:15,devname="fw1",devid="F",logid="7",user="x",devname="fw9",date=2020-01-01,y=z`,
		"date=2026-11-22 devid=F devname=fw1 logid=7 time=22:14:15 user=x y=z",
	},
	{
		"VRP", "<188>Nov 22 2026 22:14:15+01:00 ar1 %%01IFNET/4/LINK_STATE(l)[12]:The line protocol is down",
		"2026-11-22T21:14:15Z|ar1|IFNET|warning|IFNET/4/LINK_STATE|rfc3164|The line protocol is down", "",
	},
	{
		"Comware", "<189>Nov 22 22:14:15 2026 sw1 %%10SHELL/5/SHELL_LOGIN: op logged in",
		"whole|sw1|SHELL|notice|SHELL/5/SHELL_LOGIN|rfc3164|op logged in", "",
	},
	{
		"Meraki", "<134>1 1795385655.123000000 MR18 events type=association radio='0'",
		"2026-11-22T22:14:15.123Z|MR18||info||rfc3164|events type=association radio='0'", "",
	},
	{"PAN-OS", "<14>Nov 22 22:14:15 PA-220 1,2026/11/22 22:14:15,0123,TRAFFIC,end", "whole|PA-220||info||rfc3164|1,2026/11/22 22:14:15,0123,TRAFFIC,end", ""},
	{"ProCurve", "<14>Nov 22 22:14:15 192.0.2.7 00076 ports: port 1 is now on-line", "whole|192.0.2.7||info||rfc3164|00076 ports: port 1 is now on-line", ""},
	{"no host", "<38>Nov 22 22:14:15 sshd[7]: Accepted", "whole||sshd[7]|info||rfc3164|Accepted", ""},
	{"a host with an address of IPv6", "<38>Nov 22 22:14:15 2001:db8::7 sshd[7]: Accepted", "whole|2001:db8::7|sshd[7]|info||rfc3164|Accepted", ""},
	{"a zone of 3164", "<38>Nov 22 22:14:15 UTC h1 sshd[7]: Accepted", "2026-11-22T22:14:15Z|h1|sshd[7]|info||rfc3164|Accepted", ""},
	{"a time without a zone", "<38>2026-11-22T22:14:15.123 h1 sshd[7]: Accepted", "at|h1|sshd[7]|info||rfc3164|Accepted", ""},

	// What looks like a device's head and is none is text.
	{"a number", "<13>45: hello", "|||notice||unknown|45: hello", ""},
	{"numbers with commas", "<13>12,13,info", "||12|notice|12,13,info|mikrotik|12,13,info", ""},
	{"a sum", "<13>Nov 22 22:14:15 h1 7: hello", "whole|h1|7|notice||rfc3164|hello", ""},
	{"a percentage", "<13>Nov 22 22:14:15 h1 df: %use-9-x: 7", "whole|h1|df|notice||rfc3164|%use-9-x: 7", ""},
	{"pairs of others", "<13>date=today devname=x", "|||notice||unknown|date=today devname=x", ""},
	{"a time in the text", "<13>Nov 22 22:14:15 h1 2026-11-22T22:14:15Z it was", "whole|h1||notice||rfc3164|2026-11-22T22:14:15Z it was", ""},
	{"a head in the text", "<13>Nov 22 22:14:15 h1 10: *Nov 22 22:14:16 h2 sshd[7]: Accepted", "whole|h1|10|notice||rfc3164|*Nov 22 22:14:16 h2 sshd[7]: Accepted", ""},
	{"capitals behind a time", "<13>Nov 22 22:14:15 CRON: hello", "whole||CRON|notice||rfc3164|hello", ""},
	{"no minute", "<13>Nov 22 22:60:15 h1 a: x", "|||notice||unknown|Nov 22 22:60:15 h1 a: x", ""},
	{"no time", "<13>Nov 32 22:14:15 h1 a: x", "|||notice||unknown|Nov 32 22:14:15 h1 a: x", ""},
}

func TestDevices(t *testing.T) {
	for _, tt := range devices {
		t.Run(tt.name, func(t *testing.T) {
			m := parse(tt.in)
			at := ""
			if m.Sent != nil {
				at = m.Sent.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
				switch m.Sent.Local().Format("2006-01-02T15:04:05.999") {
				case "2026-11-22T22:14:15.123":
					if !strings.HasPrefix(tt.want, at) {
						at = "at"
					}
				case "2026-11-22T22:14:15":
					if !strings.HasPrefix(tt.want, at) {
						at = "whole"
					}
				}
			}
			app := m.App
			if m.Process != "" {
				app += "[" + m.Process + "]"
			}
			got := strings.Join([]string{at, m.Host, app, m.Level, m.ID, m.Format, m.Text}, "|")
			if got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.in, got, tt.want)
			}
			if got := dataOf(t, m.Data); got != tt.data {
				t.Errorf("%s\ngot the data  %s\nwant %s", tt.in, got, tt.data)
			}
		})
	}
}

// The longest message of heads behind heads takes a few times its length.
func TestLongHeads(t *testing.T) {
	for _, of := range []string{"1380653443.5 h ", "*Nov 22 22:14:15 h ", "45: *2026-11-22T22:14:15 h "} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parse("<13>" + strings.Repeat(of, maxMessage/len(of)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 100*maxMessage {
			t.Errorf("%q: %d bytes take %d bytes of memory", of, maxMessage, took)
		}
	}
}

func dataOf(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	var data map[string]string
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	list := make([]string, 0, len(data))
	for _, name := range slices.Sorted(maps.Keys(data)) {
		list = append(list, fmt.Sprintf("%s=%s", name, data[name]))
	}
	return strings.Join(list, " ")
}

// BenchmarkParse is the reading of messages alone.
func BenchmarkParse(b *testing.B) {
	for _, form := range []string{"5424", "3164", "IOS", "FortiOS"} {
		line := map[string]string{
			"5424": "<34>1 2026-11-22T22:14:15.003Z h sshd 17 ID47 - Accepted publickey for operator",
			"3164": "<34>Nov 22 22:14:15 h sshd[17]: Accepted publickey for operator",
		}[form]
		for _, tt := range devices {
			if tt.name == form {
				line = tt.in
			}
		}
		b.Run(form, func(b *testing.B) {
			p, a := newParser(), arrival{raw: []byte(line), at: noon}
			b.ReportAllocs()
			for b.Loop() {
				p.parse(a)
			}
		})
	}
}
