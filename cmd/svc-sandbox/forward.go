package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// network prepares the sandbox's own network: nothing at all, or a loopback interface with a port that
// leads to the proxy of the service.
func (in *insider) network() error {
	if in.req.Network != wire.Proxy {
		return nil
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("starting the loopback interface: %w", err)
	}
	// The socket is out of sight once the root has changed.
	socket, err := unix.Open(in.req.ProxySocket, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("finding the socket of the proxy: %w", err)
	}
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), wire.ProxyPort)))
	if err != nil {
		return fmt.Errorf("listening for the proxy: %w", err)
	}
	go func() {
		for { // until this process ends
			client, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			go forward(client, socket)
		}
	}()
	return nil
}

// forward joins a connection with one to the proxy.
func forward(client *net.TCPConn, socket int) {
	defer func() { _ = client.Close() }()
	conn, err := net.Dial("unix", "/proc/self/fd/"+strconv.Itoa(socket))
	if err != nil {
		return
	}
	proxy := conn.(*net.UnixConn)
	defer func() { _ = proxy.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(proxy, client)
		_ = proxy.CloseWrite()
	}()
	_, _ = io.Copy(client, proxy)
	_ = client.CloseWrite()
	<-done
}

// loopbackUp is "ip link set lo up".
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	var request struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = unix.IFF_UP | unix.IFF_RUNNING
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); e != 0 {
		return os.NewSyscallError("ioctl", e)
	}
	return nil
}
