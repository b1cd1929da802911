// Package tcpport reserves TCP ports of this host for programs that tests and benchmarks start.
//
//	p, err := tcpport.Reserve()
//	defer p.Close() // when nobody listens on it any more
//	cmd := exec.Command("slapd", "-h", "ldap://"+p.Addr())
//
// A port that is merely looked for, by listening on port 0 and closing that again, may be anybody's
// before the program listens on it. A reserved one is held by a socket that does not listen. As long
// as it is, the kernel gives the port to nobody who asks for any port, neither to listen on nor for
// an outgoing connection, and refuses connections to it while no program listens. Whoever names the
// port and sets SO_REUSEADDR, as servers do, may listen on it, also again and again.
//
// That is so on Linux. On other systems the port is merely looked for. A Port is safe for concurrent
// use.
package tcpport

import (
	"fmt"
	"net"
	"strconv"
)

// Port is a reserved port of the loopback address. Make it with [Reserve].
type Port struct {
	number  int
	release func()
}

// Reserve reserves a port that nobody has.
func Reserve() (*Port, error) {
	p, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("reserving a port: %w", err)
	}
	return p, nil
}

// String returns the number in decimal.
func (p *Port) String() string { return strconv.Itoa(p.number) }

// Addr returns the address, such as 127.0.0.1:41145.
func (p *Port) Addr() string { return net.JoinHostPort("127.0.0.1", p.String()) }

// Close gives the port back. Who listens on it goes on to.
func (p *Port) Close() { p.release() }

// TB is the part of testing.TB that [ForTest] needs.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}

// ForTest reserves a port until the test ends.
func ForTest(tb TB) *Port {
	tb.Helper()
	p, err := Reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Close)
	return p
}
