package ldaptest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"
)

// The tree of NewSamba.
const (
	SambaBaseDN = "DC=ad,DC=example,DC=org"
	SambaBindDN = "CN=svc,CN=Users," + SambaBaseDN

	sambaAdminPassword = "admin-Passw0rd"
)

// NewSamba starts a domain controller of Samba, which is like Active Directory, and stops it when
// the test ends. alice is in gw-admins, bob in gw-users, carol in inner, which is in team, which is
// in gw-users; dave is in none; svc may search. Every password is the name with "-Passw0rd" behind.
//
// It needs root, because its port is fixed, and Debian's packages samba, samba-ad-provision,
// samba-dsdb-modules, samba-vfs-modules and winbind; without them the test is skipped.
func NewSamba(t testing.TB) *Server {
	t.Helper()
	for _, program := range []string{"samba", "samba-tool"} {
		if _, err := exec.LookPath(program); err != nil || os.Getuid() != 0 {
			t.Skip("this needs root and a Samba that can be a domain controller")
		}
	}
	dir := t.TempDir()
	ip := net.IPv4(127, byte(rand.IntN(200)+10), byte(rand.IntN(256)), 1)
	caFile, err := certify(dir, ip)
	if err != nil {
		t.Fatal(err)
	}
	provision := exec.Command("samba-tool", "domain", "provision", "--realm=AD.EXAMPLE.ORG", "--domain=AD", "--adminpass="+sambaAdminPassword,
		"--server-role=dc", "--dns-backend=NONE", "--targetdir="+dir, "--host-name=dc1", "--host-ip="+ip.String(),
		"--option=interfaces=lo", "--option=bind interfaces only=yes")
	if out, err := provision.CombinedOutput(); err != nil {
		t.Fatalf("samba-tool: %v\n%s", err, out)
	}
	conf := filepath.Join(dir, "etc", "smb.conf")
	var log bytes.Buffer
	cmd := exec.Command("samba", "-F", "-M", "single", "--no-process-group", "--debug-stdout", "-s", conf)
	for name, value := range map[string]string{
		"server services": "ldap", "interfaces": ip.String() + "/8", "bind interfaces only": "yes",
		"pid directory": dir, "ncalrpc dir": filepath.Join(dir, "ncalrpc"), "log file": filepath.Join(dir, "log"),
		"tls cafile": filepath.Join(dir, "ca.pem"), "tls certfile": filepath.Join(dir, "server.pem"), "tls keyfile": filepath.Join(dir, "server.key"),
	} {
		cmd.Args = append(cmd.Args, "--option="+name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // an error: it was killed
	})
	if err := listening(ip.String() + ":389"); err != nil {
		t.Fatalf("samba: %v\n%s", err, log.String())
	}
	add := exec.Command("ldapadd", "-x", "-H", "ldaps://"+ip.String(), "-D", "CN=Administrator,CN=Users,"+SambaBaseDN, "-w", sambaAdminPassword)
	add.Env = append(os.Environ(), "LDAPTLS_CACERT="+caFile)
	add.Stdin = strings.NewReader(sambaPeople())
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("ldapadd: %v\n%s", err, out)
	}
	return &Server{URL: "ldap://" + ip.String(), TLSURL: "ldaps://" + ip.String(), CAFile: caFile}
}

func sambaPeople() string {
	var ldif strings.Builder
	dn := func(name string) string { return "CN=" + name + ",CN=Users," + SambaBaseDN }
	for _, user := range []string{"alice", "bob", "carol", "dave", "svc"} {
		var password []byte // in quotes and UTF-16 (MS-ADTS, 3.1.1.3.1.5.1)
		for _, r := range utf16.Encode([]rune(`"` + user + `-Passw0rd"`)) {
			password = binary.LittleEndian.AppendUint16(password, r)
		}
		fmt.Fprintf(&ldif, "dn: %s\nobjectClass: user\nsAMAccountName: %s\nuserAccountControl: 512\nunicodePwd:: %s\n\n",
			dn(user), user, base64.StdEncoding.EncodeToString(password))
	}
	for _, g := range [][]string{{"gw-admins", "alice"}, {"inner", "carol"}, {"team", "inner"}, {"gw-users", "bob", "team"}} {
		fmt.Fprintf(&ldif, "dn: %s\nobjectClass: group\nsAMAccountName: %s\n", dn(g[0]), g[0])
		for _, member := range g[1:] {
			fmt.Fprintf(&ldif, "member: %s\n", dn(member))
		}
		ldif.WriteByte('\n')
	}
	return ldif.String()
}

// listening waits until somebody takes connections at the address.
func listening(address string) error {
	for deadline := time.Now().Add(20 * time.Second); ; {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it does not answer: %w", err)
		}
		<-time.After(10 * time.Millisecond)
	}
}
