package device_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/device/devicetest"
)

func hostKey(t *testing.T) ssh.PublicKey {
	t.Helper()
	d, err := devicetest.Open(devicetest.Options{Platform: "ios", Name: "edge1"})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	return d.Key()
}

// Keys that are pinned at once, as by several commands, are all pinned.
func TestPinsAtOnce(t *testing.T) {
	path, key := filepath.Join(t.TempDir(), "known_hosts"), hostKey(t)
	const n = 30
	endpoint := func(i int) string { return fmt.Sprintf("10.0.0.%d:22", i) }
	var all errgroup.Group
	for i := range n {
		all.Go(func() error { return device.OpenKeys(path).Pin(endpoint(i), key) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := device.OpenKeys(path).Check(endpoint(i), key); err != nil {
			t.Error(err)
		}
	}
}

// A file that nobody can rely on trusts no device, and the error says what to do.
func TestKeysThatAreNotRead(t *testing.T) {
	key := hostKey(t)
	for _, tc := range []struct {
		name   string
		damage func(path string) error
		want   string
	}{
		{"writable by others", func(p string) error { return os.Chmod(p, 0o622) }, "known_hosts: others than the service's user and root own it or can write it"},
		{"a link", func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink(p+"2", p)) }, "known_hosts: it is a symbolic link"},
		{"a pipe", func(p string) error { return errors.Join(os.Remove(p), unix.Mkfifo(p, 0o600)) }, "known_hosts: it is not a regular file"},
		{"damaged", func(p string) error { return os.WriteFile(p, []byte("10.0.0.1 ssh-ed25519 AAA\n"), 0o600) }, "known_hosts:1: "},
		{"damaged, and what to do", func(p string) error { return os.WriteFile(p, []byte("nonsense\n"), 0o600) }, "mend or remove this line, and pin the key of its device with service device trust"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "known_hosts")
			k := device.OpenKeys(path)
			if err := k.Pin("10.0.0.1:22", key); err != nil {
				t.Fatal(err)
			}
			if err := tc.damage(path); err != nil {
				t.Fatal(err)
			}
			contains(t, "the error", fmt.Sprint(k.Check("10.0.0.1:22", key)), tc.want)
		})
	}
}
