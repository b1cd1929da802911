package reach_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/svc-gateway/svc/internal/reach"
)

func networks(all ...string) (list []netip.Prefix) {
	for _, n := range all {
		list = append(list, netip.MustParsePrefix(n))
	}
	return list
}

func TestCheck(t *testing.T) {
	rule := reach.Rule{Networks: networks("10.1.0.0/16", "0.0.0.0/0")}
	for _, tc := range []struct {
		address       string
		public, given bool // reachable without and with the networks of rule
	}{
		{"1.1.1.1", true, true},
		{"2606:4700:4700::1111", true, true},
		{"10.1.2.3", false, true},
		{"127.0.0.1", false, false},
		{"127.8.8.8", false, false},
		{"::1", false, false},
		{"::ffff:127.0.0.1", false, false},
		{"::ffff:10.0.0.1", false, true},
		{"64:ff9b::7f00:1", false, false},
		{"2002:7f00:1::", false, false},
		{"0.0.0.0", false, false},
		{"::", false, false},
		{"169.254.169.254", false, false},
		{"fe80::1", false, false},
		{"fe80::1%eth0", false, false},
		{"fd00:ec2::254", false, false},
		{"fc00::1", false, false},
		{"168.63.129.16", false, false},
		{"100.100.100.200", false, false},
		{"100.64.0.1", false, true},
		{"172.16.0.1", false, true},
		{"192.168.1.1", false, true},
		{"224.0.0.1", false, false},
		{"255.255.255.255", false, true},
		{"ff02::1", false, false},
		{"2001:db8::1", false, false},
	} {
		a := netip.MustParseAddr(tc.address)
		if err := (reach.Rule{}).Check(a); (err == nil) != tc.public {
			t.Errorf("%s: got %v, want reachable %v", a, err, tc.public)
		}
		if err := rule.Check(a); (err == nil) != tc.given {
			t.Errorf("%s with networks: got %v, want reachable %v", a, err, tc.given)
		}
	}
}

// What is local to a host is opened by its own address alone, and what holds an IPv4 address by both.
func TestCheckWhatIsListed(t *testing.T) {
	for _, tc := range []struct {
		name, address string
		rule          reach.Rule
		want          bool
	}{
		{"loopback, by itself", "127.0.0.1", reach.Rule{Networks: networks("127.0.0.1/32"), Local: true}, true},
		{"loopback, mapped", "::ffff:127.0.0.1", reach.Rule{Networks: networks("127.0.0.1/32"), Local: true}, true},
		{"loopback, another one", "127.0.0.2", reach.Rule{Networks: networks("127.0.0.1/32"), Local: true}, false},
		{"loopback, in a network", "127.0.0.1", reach.Rule{Networks: networks("127.0.0.0/8"), Local: true}, false},
		{"loopback, not for this use", "127.0.0.1", reach.Rule{Networks: networks("127.0.0.1/32")}, false},
		{"metadata, by itself", "169.254.169.254", reach.Rule{Networks: networks("169.254.169.254/32"), Local: true}, true},
		{"metadata, in a network", "169.254.169.254", reach.Rule{Networks: networks("169.254.0.0/16"), Local: true}, false},
		{"metadata in a private network", "fd00:ec2::254", reach.Rule{Networks: networks("fc00::/7"), Local: true}, false},
		{"metadata in a shared network", "100.100.100.200", reach.Rule{Networks: networks("100.64.0.0/10"), Local: true}, false},
		{"unspecified, by itself", "0.0.0.0", reach.Rule{Networks: networks("0.0.0.0/32"), Local: true}, false},
		{"multicast, by itself", "224.0.0.1", reach.Rule{Networks: networks("224.0.0.1/32"), Local: true}, false},
		{"NAT64 of a public address", "64:ff9b::1.1.1.1", reach.Rule{Networks: networks("64:ff9b::/96")}, true},
		{"NAT64 of loopback", "64:ff9b::127.0.0.1", reach.Rule{Networks: networks("64:ff9b::/96")}, false},
		{"NAT64 of metadata", "64:ff9b::169.254.169.254", reach.Rule{Networks: networks("64:ff9b::/96"), Local: true}, false},
		{"NAT64 of a private address", "64:ff9b::10.1.2.3", reach.Rule{Networks: networks("64:ff9b::/96")}, false},
		{"NAT64 of a listed address", "64:ff9b::10.1.2.3", reach.Rule{Networks: networks("64:ff9b::/96", "10.0.0.0/8")}, true},
		{"6to4 of loopback", "2002:7f00:1::", reach.Rule{Networks: networks("2002::/16")}, false},
		{"Teredo of loopback", "2001:0:1:2:3:4:80ff:fffe", reach.Rule{Networks: networks("2001::/32")}, false},
		{"compatible with loopback", "::127.0.0.1", reach.Rule{Networks: networks("::/96")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.rule.Check(netip.MustParseAddr(tc.address)); (err == nil) != tc.want {
				t.Errorf("got %v, want allowed %v", err, tc.want)
			}
		})
	}
}

// The address is judged that is connected to, not the one that the name had before.
func TestControl(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for _, tc := range []struct {
		name, network, address string
		rule                   reach.Rule
		want                   bool
	}{
		{"listed", "tcp", l.Addr().String(), reach.Rule{Networks: networks("127.0.0.1/32"), Local: true}, true},
		{"not listed", "tcp", l.Addr().String(), reach.Rule{}, false},
		{"not TCP", "udp", l.Addr().String(), reach.Rule{Networks: networks("127.0.0.1/32"), Local: true}, false},
		{"a socket", "unix", "/run/x.sock", reach.Rule{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := net.Dialer{ControlContext: reach.Control(tc.rule.Check)}
			conn, err := d.DialContext(context.Background(), tc.network, tc.address)
			if err == nil {
				_ = conn.Close()
			}
			if (err == nil) != tc.want || err != nil && !errors.Is(err, reach.ErrRefused) {
				t.Errorf("got %v, want allowed %v", err, tc.want)
			}
		})
	}
}

// An address that is not mapped is judged as the IPv4 address that it stands for, and no answer depends
// on how it is written.
func FuzzCheck(f *testing.F) {
	for _, a := range []string{"1.1.1.1", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::1.2.3.4", "fe80::1", "2001:db8::"} {
		b := netip.MustParseAddr(a).As16()
		f.Add(b[:])
	}
	rule := reach.Rule{Networks: networks("10.0.0.0/8", "64:ff9b::/96", "127.0.0.1/32"), Local: true}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != 16 {
			return
		}
		a := netip.AddrFrom16([16]byte(b))
		err := rule.Check(a)
		if same := rule.Check(a.Unmap()); (err == nil) != (same == nil) {
			t.Errorf("%s: got %v, and %v without the mapping", a, err, same)
		}
		if err == nil && reach.Local(a.Unmap()) && a.Unmap() != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("%s is local and allowed", a)
		}
	})
}
