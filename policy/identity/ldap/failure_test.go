package ldap_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// technical fails unless err says nothing about the user and has the text in it.
func technical(t *testing.T, err error, text string) {
	t.Helper()
	for _, about := range []error{identity.ErrCredentials, identity.ErrNoRole, identity.ErrRevoked} {
		if errors.Is(err, about) {
			t.Errorf("got %v, want a technical error", err)
		}
	}
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want one with %q", err, text)
	}
}

func TestTechnicalErrors(t *testing.T) {
	server, other := ldaptest.New(t), ldaptest.New(t)
	for _, tt := range []struct {
		name, want string
		change     change
	}{
		{"wrong authority", "certificate signed by unknown authority", func(s *settings.LDAP) { s.CAFile = other.CAFile }},
		{"wrong authority, ldaps", "certificate signed by unknown authority", func(s *settings.LDAP) { s.CAFile, s.URL = other.CAFile, []string{server.TLSURL} }},
		{"the system's authorities", "certificate signed by unknown authority", func(s *settings.LDAP) { s.CAFile = "" }},
		{"another host's certificate", "certificate is not valid for any names, but wanted to match localhost", func(s *settings.LDAP) {
			s.URL = []string{strings.Replace(server.URL, "127.0.0.1", "localhost", 1)}
		}},
		{"encrypted port taken for a plain one", "", func(s *settings.LDAP) { s.URL = []string{strings.Replace(server.TLSURL, "ldaps", "ldap", 1)} }},
		{"plain port taken for an encrypted one", "", func(s *settings.LDAP) { s.URL = []string{strings.Replace(server.URL, "ldap", "ldaps", 1)} }},
		{"account that searches", "Invalid Credentials", func(s *settings.LDAP) { s.BindDN = "cn=other," + ldaptest.BaseDN }},
		{"base that is not there", "searching below ou=nowhere", func(s *settings.LDAP) { s.BaseDN = "ou=nowhere," + ldaptest.BaseDN }},
		{"group base that is not there", "finding groups: below ou=nowhere", func(s *settings.LDAP) { member(s); s.GroupBaseDN = "ou=nowhere," + ldaptest.BaseDN }},
		{"referral", "the server refers to another one, which is not followed", func(s *settings.LDAP) { s.BaseDN = "ou=elsewhere," + ldaptest.BaseDN }},
		{"no such name attribute", "has no attribute employeeNumber: set ldap.name_attribute", func(s *settings.LDAP) { s.NameAttribute = "employeeNumber" }},
		{"no such id attribute", "has no attribute nsUniqueId: set ldap.id_attribute", func(s *settings.LDAP) { s.IDAttribute = "nsUniqueId" }},
		{"nobody there", "connection refused", func(s *settings.LDAP) { s.URL = []string{"ldap://127.0.0.1:1"} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shared(server)
			tt.change(&s)
			_, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password")
			technical(t, err, tt.want)
		})
	}
	// A place where more could be found does not hide what was found.
	s := shared(server)
	whole(&s)
	if _, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password"); err != nil {
		t.Errorf("a search that passes a referral: %v", err)
	}
}

func TestInClearAndEncrypted(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.URL = []string{server.TLSURL}
	if _, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password"); err != nil {
		t.Errorf("ldaps: %v", err)
	}
	s.URL, s.Insecure, s.CAFile = []string{server.URL}, true, ""
	if _, err := open(t, s).Authenticate(t.Context(), "alice", "alice-password"); err != nil {
		t.Errorf("in clear: %v", err)
	}
}

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

// A server that began to hang is left at once, with all connections to it.
func TestHangingServerIsLeft(t *testing.T) {
	hanging, server := ldaptest.New(t), ldaptest.New(t)
	s := shared(hanging)
	pem, err := os.ReadFile(server.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	both, err := os.ReadFile(hanging.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	s.CAFile = filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(s.CAFile, append(both, pem...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.URL, s.Timeout = []string{hanging.URL, server.URL}, time.Second
	d := open(t, s)
	authenticate := func() error {
		_, err := d.Authenticate(t.Context(), "alice", "alice-password")
		return err
	}
	var warm sync.WaitGroup
	for range s.Pool {
		warm.Go(func() {
			if err := authenticate(); err != nil {
				t.Error(err)
			}
		})
	}
	warm.Wait()
	if err := hanging.Pause(); err != nil {
		t.Fatal(err)
	}
	technical(t, authenticate(), "no answer in time")
	for range s.Pool {
		if err := authenticate(); err != nil {
			t.Errorf("with another server there: %v", err)
		}
	}
}

// A directory that hangs is waited for until the deadline, and is no worse than one that is gone.
func TestHangingAndBack(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.Timeout = 300 * time.Millisecond
	d := open(t, s)
	authenticate := func() error {
		_, err := d.Authenticate(t.Context(), "alice", "alice-password")
		return err
	}
	if err := authenticate(); err != nil {
		t.Fatal(err)
	}
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var waiting sync.WaitGroup
	for range 20 { // more than there are connections
		waiting.Go(func() {
			if err := authenticate(); err == nil || errors.Is(err, identity.ErrCredentials) {
				t.Errorf("got %v, want a technical error", err)
			}
		})
	}
	waiting.Wait()
	if took := time.Since(begun); took > 20*s.Timeout {
		t.Errorf("took %v, want about %v", took, s.Timeout)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	await(t, authenticate)

	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	technical(t, authenticate(), "connection refused")
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if err := authenticate(); err != nil { // at once: there is only this one
		t.Errorf("back again: %v", err)
	}
}

// await repeats f until it succeeds.
func await(t *testing.T, f func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("not in time: %v", err)
		}
	}
}

// Connections that the server closed meanwhile are replaced without anybody noticing.
func TestRestartBetweenLooks(t *testing.T) {
	server := ldaptest.New(t)
	d := open(t, shared(server))
	for range 3 {
		if _, err := d.Authenticate(t.Context(), "alice", "alice-password"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(server.Stop(), server.Run()); err != nil {
			t.Fatal(err)
		}
	}
}

// One that does not answer is asked once, and then after the others for a while.
func TestServersInTurn(t *testing.T) {
	server := ldaptest.New(t)
	silent, connections := hostile(t, nil)
	s := shared(server)
	s.URL, s.Timeout = []string{"ldap://127.0.0.1:1", silent, server.URL}, time.Second
	var troubles []string
	d, err := ldap.New(s, ldaptest.BindPassword, func(server string, err error) { troubles = append(troubles, server) })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.Authenticate(t.Context(), "alice", "alice-password"); err != nil {
			t.Fatal(err)
		}
		d.Close() // connections are made anew from now on
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("the silent server was asked %d times, want once", n)
	}
	if d := cmp.Diff(s.URL[:2], troubles); d != "" {
		t.Errorf("troubles were told (-want +got):\n%s", d)
	}
}

func TestCancelled(t *testing.T) {
	url, _ := hostile(t, nil)
	s := shared(&ldaptest.Server{URL: url})
	s.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begun := time.Now()
	_, err := open(t, s).Authenticate(ctx, "alice", "alice-password")
	technical(t, err, "")
	if took := time.Since(begun); took > s.Timeout/2 {
		t.Errorf("took %v after the caller had gone", took)
	}
}

func TestExplain(t *testing.T) {
	server := ldaptest.New(t)
	for _, tt := range []struct {
		name, user, password string
		changes              []change
		steps                string // the last one failed if there is an error
		want                 string
	}{
		{"without a password", "alice", "", nil, "connect tls bind entry groups role", ""},
		{"with one", "alice", "alice-password", nil, "connect tls bind entry connect tls password groups role", ""},
		{"a wrong one", "alice", "bob-password", nil, "connect tls bind entry connect tls password", "wrong user name or password"},
		{"no role", "dave", "", nil, "connect tls bind entry groups role", "no group or claim gives a role"},
		{"unknown", "nobody", "x", nil, "connect tls bind entry", "no entry below ou=people,dc=example,dc=org matches (uid=nobody)"},
		{"template", "alice", "alice-password", []change{template}, "connect tls password entry groups role", ""},
		{"template without a password", "alice", "", []change{template}, "", "give the password"},
		{"anonymous", "alice", "", []change{func(s *settings.LDAP) { s.BindDN = "" }}, "connect tls entry", "searching below"},
		{"refused", "alice", "", []change{func(s *settings.LDAP) { s.URL = []string{"ldap://127.0.0.1:1"} }}, "connect", "connection refused"},
		{"untrusted", "alice", "", []change{func(s *settings.LDAP) { s.CAFile = "" }}, "connect tls", "unknown authority"},
		{"account", "alice", "", []change{func(s *settings.LDAP) { s.BindDN = "cn=x," + ldaptest.BaseDN }}, "connect tls bind", "Invalid Credentials"},
		{"invisible", "ali\u00adce", "", nil, "", "cannot be seen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shared(server)
			for _, change := range tt.changes {
				change(&s)
			}
			got := open(t, s).Explain(t.Context(), tt.user, tt.password)
			var steps []string
			for i, step := range got.Steps {
				steps = append(steps, step.Name)
				if failed := tt.want != "" && i == len(got.Steps)-1; failed != (step.Error != "") {
					t.Errorf("step %s: got error %q", step.Name, step.Error)
				}
			}
			if all := strings.Join(steps, " "); all != tt.steps {
				t.Errorf("got steps %q, want %q", all, tt.steps)
			}
			if !strings.Contains(got.Error, tt.want) || (got.Error == "") != (tt.want == "") {
				t.Errorf("got error %q, want one with %q", got.Error, tt.want)
			}
			if tt.want == "" && (got.User != "alice" || got.Role != "admin") {
				t.Errorf("got %s with role %s", got.User, got.Role)
			}
		})
	}
}

var _ identity.Directory = (*ldap.Directory)(nil)
