package main

import (
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

const dialTime = 500 * time.Millisecond

// tryTCP tries to reach a server on the host.
func tryTCP(p wire.Probe) error {
	if p.Network == wire.Host {
		return nil
	}
	if conn, err := net.DialTimeout("tcp", p.TCP, dialTime); err == nil {
		_ = conn.Close()
		return fmt.Errorf("%s can be reached", p.TCP)
	}
	return nil
}

// tryUDP sends a packet to the host. Whether it arrives is seen there.
func tryUDP(p wire.Probe) error {
	if p.Network == wire.Host {
		return nil
	}
	if conn, err := net.DialTimeout("udp", p.UDP, dialTime); err == nil {
		_, _ = conn.Write([]byte("probe"))
		_ = conn.Close()
	}
	return nil
}

// tryUnixSocket tries the sockets of the host that have a path, and those that need none.
func tryUnixSocket(p wire.Probe) error {
	for _, name := range p.Unix {
		for _, network := range []string{"unix", "unixgram"} {
			if conn, err := net.DialTimeout(network, name, dialTime); err == nil {
				_ = conn.Close()
				return fmt.Errorf("the socket %s can be reached", name)
			}
		}
	}
	// A pair of datagram sockets would do as well: each can send to any path.
	if fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err == nil {
		_ = unix.Close(fds[0])
		_ = unix.Close(fds[1])
		return fmt.Errorf("there can be datagram sockets")
	}
	return nil
}

// tryOtherSockets tries kinds of sockets that speak to the kernel or below IP.
func tryOtherSockets(wire.Probe) error {
	for _, s := range []struct {
		name           string
		family, kind   int
		protocolNumber int
	}{
		{"netlink", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE},
		{"packet", unix.AF_PACKET, unix.SOCK_RAW, 0},
		{"raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		{"vsock", unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		{"alg", unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		{"bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 0},
	} {
		if fd, err := unix.Socket(s.family, s.kind|unix.SOCK_CLOEXEC, s.protocolNumber); err == nil {
			_ = unix.Close(fd)
			return fmt.Errorf("there can be sockets of kind %s", s.name)
		}
	}
	return nil
}
