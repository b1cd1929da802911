package devicetest

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// The user and the passwords of all devices.
const (
	User     = "netops"
	Password = "Pr1vate-net-Pass"
	Enable   = "En4ble-net-Pass"
)

// Fault is something that a device does wrong.
type Fault string

// The faults.
const (
	Mute         Fault = "mute"          // it takes a connection and says nothing
	HangPassword Fault = "hang-password" // it never answers a password
	HangCommand  Fault = "hang-command"  // it never ends the output of a command
	HangEnable   Fault = "hang-enable"   // it never answers the password of enable
	CloseMiddle  Fault = "close-middle"  // it closes the connection within the output of a command
	PageForever  Fault = "page-forever"  // every page has another one behind it
	Flood        Fault = "flood"         // the output never ends, without a pager
	OneLine      Fault = "one-line"      // the same in one line
	FakePrompt   Fault = "fake-prompt"   // the output has the prompt in it
	IgnoreChange Fault = "ignore-change" // it takes lines of configuration and changes nothing
	ChangeMore   Fault = "change-more"   // it changes more than it was told
	StickyChange Fault = "sticky-change" // and lets nothing be taken back
	CommitFails  Fault = "commit-fails"
	CloseAfter   Fault = "close-after"   // junos: it closes the connection when the configuration mode is left
	CloseCommit  Fault = "close-commit"  // junos: it commits, and closes the connection before it says so
	CloseConfirm Fault = "close-confirm" // junos: the same when a commit is confirmed
	SilentCommit Fault = "silent-commit" // junos: it commits, and does not say so
	NoRollback   Fault = "no-rollback"   // junos: it changes more than it was told, and has no earlier configuration
)

// Options say what a device is like.
type Options struct {
	Platform string        // ios or junos
	Name     string        // in its prompt
	Config   []string      // lines of its configuration; a few when nil
	Fault    Fault         // none when empty
	Delay    time.Duration // before each answer
	User     bool          // ios: a login has no rights before enable
}

// Device is a running device.
type Device struct {
	o        Options
	listener net.Listener
	done     sync.WaitGroup
	closed   chan struct{}
	once     sync.Once // closes it

	mu       sync.Mutex // guards the rest
	key      ssh.Signer
	conns    map[net.Conn]bool
	config   []line
	before   []line // junos: of the last commit
	saved    bool   // ios: the configuration was written
	more     bool   // the fault ChangeMore was there
	commands []string
	logins   int
}

// Open starts a device on loopback.
func Open(o Options) (*Device, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &Device{o: o, listener: l, closed: make(chan struct{}), conns: map[net.Conn]bool{}}
	if o.Config == nil {
		o.Config = defaults[o.Platform]
	}
	d.config = parse(o.Platform, strings.ReplaceAll(strings.Join(o.Config, "\n"), "NAME", o.Name))
	if err := d.Rekey(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	d.done.Go(d.accept)
	return d, nil
}

// Close ends the device and its connections.
func (d *Device) Close() {
	d.once.Do(func() { close(d.closed) })
	_ = d.listener.Close()
	d.mu.Lock()
	for c := range d.conns {
		_ = c.Close()
	}
	d.mu.Unlock()
	d.done.Wait()
}

// Address is where it listens, host:port.
func (d *Device) Address() string { return d.listener.Addr().String() }

// Port is the port of it.
func (d *Device) Port() int { return d.listener.Addr().(*net.TCPAddr).Port }

// Rekey gives the device another host key.
func (d *Device) Rekey() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	key, err := ssh.NewSignerFromKey(private)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key = key
	return err
}

// Key is its host key.
func (d *Device) Key() ssh.PublicKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.key.PublicKey()
}

// Commands are the lines that were typed so far, passwords excepted.
func (d *Device) Commands() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.commands)
}

// Logins is how often a password was tried.
func (d *Device) Logins() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logins
}

// Saved reports whether the running configuration would be there after a restart.
func (d *Device) Saved() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saved
}

// Running is the configuration as it stands.
func (d *Device) Running() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return render(d.o.Platform, d.config)
}

func (d *Device) accept() {
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		d.conns[c] = true
		d.mu.Unlock()
		d.done.Go(func() {
			defer func() {
				_ = c.Close()
				d.mu.Lock()
				delete(d.conns, c)
				d.mu.Unlock()
			}()
			d.serve(c)
		})
	}
}

func (d *Device) serve(c net.Conn) {
	if d.o.Fault == Mute {
		<-d.closed
		return
	}
	check := func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
		d.mu.Lock()
		d.logins++
		d.mu.Unlock()
		if d.o.Fault == HangPassword {
			<-d.closed
		}
		if string(password) != Password {
			return nil, errors.New("no")
		}
		return &ssh.Permissions{}, nil
	}
	config := &ssh.ServerConfig{PasswordCallback: check, MaxAuthTries: 3}
	d.mu.Lock()
	config.AddHostKey(d.key)
	d.mu.Unlock()
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	go ssh.DiscardRequests(requests)
	for ch := range channels {
		if ch.ChannelType() != "session" {
			_ = ch.Reject(ssh.UnknownChannelType, "no")
			continue
		}
		channel, requests, err := ch.Accept()
		if err != nil {
			return
		}
		d.done.Go(func() {
			for r := range requests {
				_ = r.Reply(r.Type == "pty-req" || r.Type == "shell", nil)
				if r.Type == "shell" {
					d.done.Go(func() {
						newTerminal(d, channel).run()
						_ = channel.Close()
						_ = conn.Close()
					})
				}
			}
		})
	}
}
