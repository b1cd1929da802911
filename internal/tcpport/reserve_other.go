//go:build !linux

package tcpport

import "net"

// reserve looks for a port: elsewhere a socket that is bound keeps every other from the port.
func reserve() (*Port, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Port{ln.Addr().(*net.TCPAddr).Port, func() {}}, ln.Close()
}
