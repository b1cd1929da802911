package device

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/svc-gateway/svc/internal/guarded"
)

// Keys are the host keys that people have pinned, in a file of the form known_hosts of OpenSSH. A key is
// pinned for an address and port. Make it with [OpenKeys].
type Keys struct{ path string }

// OpenKeys returns the keys in a file, which need not be there yet.
func OpenKeys(path string) *Keys { return &Keys{path} }

// KeyError says that a device shows a host key that is not the pinned one.
type KeyError struct {
	Device   string // what the inventory calls it
	Endpoint string
	Shown    ssh.PublicKey
	Pinned   []ssh.PublicKey // none: nobody has pinned one
}

// Error says what to do.
func (e *KeyError) Error() string {
	trust := "service device trust " + cmp.Or(e.Device, "NAME")
	shown := e.Shown.Type() + " " + ssh.FingerprintSHA256(e.Shown)
	if len(e.Pinned) == 0 {
		return fmt.Sprintf("nobody has pinned the host key of %s, which is %s: compare it with the device's own, then run %s", e.Endpoint, shown, trust)
	}
	pinned := make([]string, len(e.Pinned))
	for i, k := range e.Pinned {
		pinned[i] = k.Type() + " " + ssh.FingerprintSHA256(k)
	}
	return fmt.Sprintf("the host key of %s is not the pinned one, and nothing was sent to it: it shows %s, pinned is %s. Somebody may stand in between. "+
		"If the device was replaced, run %s --replace", e.Endpoint, shown, strings.Join(pinned, " and "), trust)
}

// maxKeys bounds the file, in bytes.
const maxKeys = 64 << 20

// read reads the file: nil when there is none. Who writes it says which devices are trusted.
func (k *Keys) read() ([]byte, error) {
	text, err := guarded.Read(k.path, maxKeys)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the pinned host keys: %s: %w", k.path, err)
	}
	return text, nil
}

// pinned returns a check for connections, as of now.
func (k *Keys) pinned() (ssh.HostKeyCallback, error) {
	var files []string
	if text, err := k.read(); err != nil {
		return nil, err
	} else if text != nil {
		files = append(files, k.path)
	}
	check, err := knownhosts.New(files...)
	if err != nil {
		return nil, fmt.Errorf("reading the pinned host keys: %w: mend or remove this line, and pin the key of its device with service device trust", err)
	}
	return func(endpoint string, remote net.Addr, key ssh.PublicKey) error {
		// The address alone is looked at, not what a name happened to stand for.
		err := check(endpoint, unnamed{}, key)
		if wrong := new(knownhosts.KeyError); errors.As(err, &wrong) {
			e := &KeyError{Endpoint: endpoint, Shown: key}
			for _, w := range wrong.Want {
				e.Pinned = append(e.Pinned, w.Key)
			}
			return e
		}
		if err != nil {
			return fmt.Errorf("the host key of %s is revoked, or cannot be checked", endpoint)
		}
		return nil
	}, nil
}

// unnamed is an address that no line names.
type unnamed struct{}

func (unnamed) Network() string { return "tcp" }
func (unnamed) String() string  { return "0.0.0.0:0" }

// algorithms are those by which a device is to show one of the keys pinned for it; nil when none is.
func algorithms(check ssh.HostKeyCallback, endpoint string) []string {
	var wrong *KeyError
	if !errors.As(check(endpoint, unnamed{}, noKey{}), &wrong) {
		return nil
	}
	var all []string
	for _, k := range wrong.Pinned {
		if k.Type() == ssh.KeyAlgoRSA {
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		}
		all = append(all, k.Type())
	}
	return all
}

// noKey is a key that nobody has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("this is no key") }

// Check returns nil if the key is pinned for the endpoint, else a [*KeyError].
func (k *Keys) Check(endpoint string, key ssh.PublicKey) error {
	check, err := k.pinned()
	if err != nil {
		return err
	}
	return check(endpoint, unnamed{}, key)
}

// Pin pins a key for an endpoint, in the place of those pinned before. Several processes may pin keys at once.
func (k *Keys) Pin(endpoint string, key ssh.PublicKey) error {
	err := guarded.Alone(filepath.Dir(k.path), func() error { return k.pin(endpoint, key) })
	if err != nil {
		return fmt.Errorf("pinning the host key: %w", err)
	}
	return nil
}

func (k *Keys) pin(endpoint string, key ssh.PublicKey) error {
	old, err := k.read()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	name := knownhosts.Normalize(endpoint)
	for line := range bytes.Lines(old) {
		if hosts, _, _ := strings.Cut(string(bytes.TrimSpace(line)), " "); hosts != name && len(bytes.TrimSpace(line)) > 0 {
			b.Write(bytes.TrimSpace(line))
			b.WriteByte('\n')
		}
	}
	b.WriteString(knownhosts.Line([]string{endpoint}, key) + "\n")
	return guarded.Write(k.path, b.Bytes())
}
