package ldap_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// A server that cannot encrypt is told nothing: only the request for StartTLS leaves in clear.
func TestNoPasswordInClear(t *testing.T) {
	ln := listen(t)
	received := make(chan string, 1)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		request := make([]byte, 1024)
		n, _ := c.Read(request)
		// protocolError, as servers without TLS say
		_, _ = c.Write([]byte{0x30, 0x0c, 0x02, 0x01, 0x01, 0x78, 0x07, 0x0a, 0x01, 0x02, 0x04, 0x00, 0x04, 0x00})
		rest, _ := io.ReadAll(c)
		received <- string(request[:n]) + string(rest)
	}()
	s := shared(&ldaptest.Server{URL: "ldap://" + ln.Addr().String()})
	_, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password")
	technical(t, err, "StartTLS")
	if got := <-received; !strings.Contains(got, "1.3.6.1.4.1.1466.20037") || strings.Contains(got, "alice") || strings.Contains(got, ldaptest.BindPassword) {
		t.Errorf("the server was told %q", got)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// hostile answers every request with the bytes and counts the connections.
func hostile(t *testing.T, answer []byte) (url string, connections *atomic.Int64) {
	t.Helper()
	ln, connections := listen(t), new(atomic.Int64)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer c.Close()
				for request := make([]byte, 1024); ; {
					if _, err := c.Read(request); err != nil {
						return
					}
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "ldap://" + ln.Addr().String(), connections
}

func TestHostileServers(t *testing.T) {
	for name, answer := range map[string][]byte{
		"silence":                nil,
		"no BER":                 []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"endless length":         {0x30, 0x84, 0x7f, 0xff, 0xff, 0xff},
		"a message without body": {0x30, 0x03, 0x02, 0x01, 0x01},
		"a body without result":  {0x30, 0x05, 0x02, 0x01, 0x01, 0x61, 0x00},
		"a result of text":       {0x30, 0x0c, 0x02, 0x01, 0x01, 0x61, 0x07, 0x04, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00},
		"an entry without DN":    {0x30, 0x05, 0x02, 0x01, 0x01, 0x64, 0x00},
		"an id of text":          {0x30, 0x0c, 0x04, 0x01, 0x01, 0x61, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00},
		"another id":             {0x30, 0x0c, 0x02, 0x01, 0x63, 0x61, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00},
		"yes to everything":      {0x30, 0x0c, 0x02, 0x01, 0x01, 0x61, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00},
	} {
		for _, anonymous := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url, _ := hostile(t, answer)
				s := shared(&ldaptest.Server{URL: url})
				s.Insecure, s.Timeout = true, 200*time.Millisecond
				if anonymous {
					s.BindDN = ""
				}
				_, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password")
				technical(t, err, "")
			})
		}
	}
}

// Whoever watches the directory, or the time, cannot tell a user who is not there.
func TestUnknownUserTakesTheSameSteps(t *testing.T) {
	server := ldaptest.New(t)
	steps := func(user string) (all []string) {
		told := make(chan string, 16)
		s := shared(server)
		s.URL, s.Insecure = []string{watched(t, server, told)}, true
		d := open(t, s)
		if _, err := d.Authenticate(t.Context(), user, "wrong"); !errors.Is(err, identity.ErrCredentials) {
			t.Errorf("%s: got %v, want ErrCredentials", user, err)
		}
		for len(told) > 0 {
			all = append(all, <-told)
		}
		return all
	}
	want := []string{"Bind Request ou=services," + ldaptest.BaseDN, "Search Request dc=example,dc=org", "Bind Request ou=people," + ldaptest.BaseDN}
	for _, user := range []string{"bob", "nobody"} {
		if d := cmp.Diff(want, steps(user)); d != "" {
			t.Errorf("%s (-want +got):\n%s", user, d)
		}
	}
}

// watched is the directory behind a proxy that tells what it is asked, with the parent of the
// entry that it is asked about.
func watched(t *testing.T, server *ldaptest.Server, told chan<- string) (url string) {
	t.Helper()
	ln := listen(t)
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			directory, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "ldap://"))
			if err != nil {
				client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, directory) }()
			go func() {
				defer directory.Close()
				for {
					packet, err := ber.ReadPacket(client)
					if err != nil {
						return
					}
					request := packet.Children[1]
					entry := request.Children[0]
					if request.Tag == goldap.ApplicationBindRequest {
						entry = request.Children[1] // behind the version
					}
					_, parent, _ := strings.Cut(entry.Value.(string), ",")
					told <- goldap.ApplicationMap[uint8(request.Tag)] + " " + parent
					_, _ = directory.Write(packet.Bytes())
				}
			}()
		}
	}()
	return "ldap://" + ln.Addr().String()
}
