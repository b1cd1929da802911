package tcpport

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reserve binds a socket to a port of the kernel's choice and leaves it at that.
func reserve() (*Port, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	f := os.NewFile(uintptr(fd), "reserved port")
	number, err := bind(fd)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Port{number, func() { f.Close() }}, nil // nothing was written that could be lost
}

func bind(fd int) (port int, err error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return 0, fmt.Errorf("setsockopt: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("bind: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, fmt.Errorf("getsockname: %w", err)
	}
	return name.(*unix.SockaddrInet4).Port, nil
}
