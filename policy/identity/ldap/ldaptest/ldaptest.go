// Package ldaptest runs a real directory for tests: slapd of OpenLDAP, with TLS, the overlays
// memberof and ppolicy, and the people of the file people.ldif.
//
//	s := ldaptest.New(t)              // ends with the test
//	s, err := ldaptest.Start(folder)  // for a test without a testing.TB; the caller closes it
//	s.Modify(ldif)
//	s.Stop()                          // nobody answers at s.URL any more
//	s.Run()                           // now again
//
// Every person's password is their name with "-password" behind. The programs slapd and ldapmodify
// must be installed. A Server is not safe for concurrent use; what it serves is.
package ldaptest

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-gateway/svc/internal/tcpport"
)

// The directory's tree and its accounts.
const (
	BaseDN       = "dc=example,dc=org"
	BindDN       = "cn=svc,ou=services," + BaseDN // may search
	BindPassword = "search-it-all"
	RootDN       = "cn=root," + BaseDN // may change everything
	RootPassword = "root-of-it-all"
)

//go:embed people.ldif
var people string

// Server is a slapd.
type Server struct {
	URL    string // ldap://127.0.0.1:port, with StartTLS
	TLSURL string // ldaps://127.0.0.1:port
	CAFile string // who signed its certificate

	dir   string
	ports []*tcpport.Port // kept while it is stopped, so that it can come back
	cmd   *exec.Cmd
	log   bytes.Buffer
}

// New starts a directory in a folder of its own and stops it when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Start starts a directory with its people, whose files are in the folder dir. The caller closes it.
func Start(dir string) (*Server, error) {
	s := &Server{dir: dir}
	var err error
	if s.CAFile, err = certify(dir, net.IPv4(127, 0, 0, 1)); err != nil {
		return nil, fmt.Errorf("making certificates: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "slapd.conf"), []byte(config(dir)), 0o600); err != nil {
		return nil, err
	}
	for _, url := range []struct {
		scheme string
		to     *string
	}{{"ldap://", &s.URL}, {"ldaps://", &s.TLSURL}} {
		p, err := tcpport.Reserve()
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.ports = append(s.ports, p)
		*url.to = url.scheme + p.Addr()
	}
	if err := s.Run(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.modify("-a", people); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func config(dir string) string {
	return strings.NewReplacer("$dir", dir, "$base", BaseDN, "$root", RootDN, "$password", RootPassword).Replace(`
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload ppolicy
pidfile $dir/slapd.pid
TLSCACertificateFile $dir/ca.pem
TLSCertificateFile $dir/server.pem
TLSCertificateKeyFile $dir/server.key
access to dn.base="" by * read
access to attrs=userPassword by anonymous auth
access to * by users read by * none
database mdb
suffix "$base"
rootdn "$root"
rootpw $password
directory $dir/data
dbnosync
index objectClass,uid,entryUUID eq
overlay memberof
overlay ppolicy
ppolicy_default "cn=default,ou=policies,$base"
`)
}

// Run starts the directory, or starts it again with what it held.
func (s *Server) Run() error {
	program, err := exec.LookPath("slapd")
	if err != nil {
		program = "/usr/sbin/slapd" // not in everybody's PATH
	}
	s.log.Reset()
	s.cmd = exec.Command(program, "-d", "0", "-f", filepath.Join(s.dir, "slapd.conf"), "-h", s.URL+" "+s.TLSURL)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting slapd, which .ci/setup installs: %w", err)
	}
	if err := listening(strings.TrimPrefix(s.URL, "ldap://")); err != nil {
		return errors.Join(fmt.Errorf("slapd: %w", err), s.Stop(), errors.New(s.log.String()))
	}
	return nil
}

// Close ends the directory for good.
func (s *Server) Close() error {
	for _, p := range s.ports {
		p.Close()
	}
	s.ports = nil
	return s.Stop()
}

// Stop ends the directory. What it held stays, and so do its addresses.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // an error: it was killed
	s.cmd = nil
	return err
}

// Pause makes the directory hang: it takes connections and answers nothing, until Resume.
func (s *Server) Pause() error {
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	_, err := syscall.Wait4(s.cmd.Process.Pid, nil, syscall.WUNTRACED, nil) // until it has stopped
	return err
}

// Resume ends a Pause.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

// Modify changes entries as the LDIF says, as the directory's admin.
func (s *Server) Modify(ldif string) error { return s.modify("", ldif) }

func (s *Server) modify(flag, ldif string) error {
	args := []string{"-x", "-H", s.URL, "-D", RootDN, "-w", RootPassword}
	if flag != "" {
		args = append(args, flag)
	}
	cmd := exec.Command("ldapmodify", args...)
	cmd.Stdin = strings.NewReader(ldif)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ldapmodify: %w: %s", err, out)
	}
	return nil
}
