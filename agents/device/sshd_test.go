package device_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/internal/tcpport"
)

// sshd starts OpenSSH's server, to which the user of the test can log in with a key.
func sshd(t *testing.T) (inventory.Device, device.Login) {
	t.Helper()
	const program = "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		t.Skip("there is no sshd: make test installs it")
	}
	dir := t.TempDir()
	key := func(name string) ssh.Signer {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			t.Fatal(err)
		}
		signer, err1 := ssh.NewSignerFromKey(private)
		line, err2 := ssh.NewPublicKey(public)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for file, text := range map[string][]byte{name: pem.EncodeToMemory(block), name + ".pub": ssh.MarshalAuthorizedKey(line)} {
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return signer
	}
	key("host")
	mine := key("user")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where the package's unit has it made
			t.Fatal(err)
		}
	}
	port, err := strconv.Atoi(tcpport.ForTest(t).String())
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n", port, dir)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(program, "-D", "-e", "-f", filepath.Join(dir, "config"))
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", said.String())
		}
	})
	d := inventory.Device{Name: "host1", Address: "127.0.0.1", Port: port, Platform: inventory.Linux}
	eventually.True(t, "sshd listens", func() bool {
		c, err := net.Dial("tcp", d.Endpoint())
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return d, device.Login{Name: "me", User: me.Username, Key: mine, Devices: []string{"platform:linux"}}
}

// A host with OpenSSH's server runs commands, and tells how they end.
func TestHost(t *testing.T) {
	d, login := sshd(t)
	keys := device.OpenKeys(filepath.Join(t.TempDir(), "known_hosts"))
	f := device.New(device.Config{Logins: []device.Login{login}, Keys: keys, Timeout: time.Minute})
	run := func(line string) device.Outcome {
		return f.Command(t.Context(), []inventory.Device{d}, line, nil)[0]
	}
	contains(t, "without a pinned key", fmt.Sprint(run("true").Err), "nobody has pinned the host key")
	key, err := f.HostKey(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Pin(d.Endpoint(), key); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ line, output, err string }{
		{"uname -s", "Linux", "<nil>"},
		{"echo out; echo err >&2; exit 3", "out", "the command ended with 3"},
		{"echo password=hunter2-correct-horse", "password=REDACTED", "<nil>"},
		{"yes", "y\ny\n", "it sends more than is read"},
		{"kill -9 $$", "", "the command ended with"},
	} {
		got := run(tt.line)
		contains(t, tt.line, got.Output, tt.output)
		contains(t, tt.line, fmt.Sprint(got.Err), tt.err)
	}
	slow := device.New(device.Config{Logins: []device.Login{login}, Keys: keys, Timeout: 3 * time.Second})
	contains(t, "what does not end", fmt.Sprint(slow.Command(t.Context(), []inventory.Device{d}, "sleep 600", nil)[0].Err), "it did not answer in time")
	stranger := login
	stranger.User = strings.Repeat("x", 8)
	wrong := device.New(device.Config{Logins: []device.Login{stranger}, Keys: keys, Timeout: time.Minute})
	contains(t, "another user", fmt.Sprint(wrong.Command(t.Context(), []inventory.Device{d}, "true", nil)[0].Err), "the device refuses the login me (user xxxxxxxx)")
}
