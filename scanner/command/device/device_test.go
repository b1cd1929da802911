package device_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/command/device"
)

// Lines of configurations are not taken for commands, and commands not for lines, however short.
func TestExecutes(t *testing.T) {
	for _, line := range strings.Split(`interface GigabitEthernet1
description uplink
no shutdown
shutdown
ip address 10.0.0.1 255.255.255.0
ntp server 10.0.0.5
router bgp 65000
redistribute connected
redundancy
class-map match-any x
clock timezone CET 1
default-information originate
default interface Gi1
monitor session 1
logging host 10.0.0.1
login local
enable secret x
exec-timeout 5 0
transport input ssh
switchport mode access
snmp-server community x
system jumbomtu 9216
standby 1 ip 10.0.0.1
storm-control broadcast level 1
event manager applet x
10 permit ip any any
copp profile strict
crypto key x
vlan 5
match ip address x
set metric 5
service timestamps log
spanning-tree portfast`, "\n") {
		if device.Executes(line) {
			t.Errorf("%s: got a command", line)
		}
	}
	for _, line := range strings.Split("delete x,del x,DELETE x,bash,bas x,ru b,exi,e,relo,wr,cl counters,tac-pac x,sys switchover,system,do x,copy a b,conf t", ",") {
		if !device.Executes(line) {
			t.Errorf("%s: got a line of a configuration", line)
		}
	}
}

func TestMoreThanReads(t *testing.T) {
	for line, reads := range map[string]bool{
		"show version": true, "show file systems": true, "show flash:": true, "dir flash:": true, "verify /md5 flash:x": true,
		"show archive config differences flash:a": true, "show ipv6 route 2001:db8::/32": true, "show x mac 00:11:22:aa:bb:cc": true,
		"show x flash:": false, "show flash:x": false, "show file tftp:x": false, "show x TO-FILE y": false, "show x write_file y": false,
		"show x fil y": false, "show x clear-counters": false, "show redirect x": false, "show a cleared": false, "show x y=flash:z": false,
		"execute date": true, "execute date 2020-01-01": false, "exec time 1": false, "display diag": true, "display diag x": false,
		"terminal length 0": true, "terminal shell": false,
	} {
		words := strings.Fields(line)
		if why := device.MoreThanReads(words[0], words[1:]); (why == "") != reads {
			t.Errorf("%s: got %q", line, why)
		}
	}
}

// Whatever stands before it, a word that writes, however short, keeps a command from being one that reads.
func FuzzMoreThanReads(f *testing.F) {
	f.Add("ip route", "redirect", uint(3))
	f.Fuzz(func(t *testing.T, before, word string, n uint) {
		if word = strings.ToLower(word); !strings.Contains(" file to-file outfile write-file redirect append tee save clear reset kill replace copy binary ", " "+word+" ") {
			return
		}
		word = word[:1+n%uint(len(word))]
		if words := append(append([]string{"a", "b"}, strings.Fields(before)...), word); device.MoreThanReads("show", words) == "" {
			t.Errorf("%q: got reading", words)
		}
	})
}
