package device

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents/inventory"
)

// errUnreachable is for a device that the inventory has no address of.
var errUnreachable = errors.New("the inventory has no address of it")

// dial connects to a device and logs in, after its host key is checked. Closing the client ends the
// connection; so does the end of ctx.
func (f *Fleet) dial(ctx context.Context, d inventory.Device) (*ssh.Client, Login, error) {
	login, ok := f.login(d)
	switch {
	case d.Address == "":
		return nil, login, errUnreachable
	case !ok:
		return nil, login, errors.New("no login is set up for it: write a block device_login NAME { user … } in the settings, for this device or a group that it is in")
	}
	check, err := f.c.Keys.pinned()
	if err != nil {
		return nil, login, err
	}
	c := f.algorithms(&ssh.ClientConfig{
		User: login.User, Auth: login.methods(), HostKeyCallback: check, HostKeyAlgorithms: algorithms(check, d.Endpoint()),
		ClientVersion: "SSH-2.0-svc",
	})
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.Endpoint())
	if err != nil {
		return nil, login, unanswered(ctx, d, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	sc, channels, requests, err := ssh.NewClientConn(conn, d.Endpoint(), c)
	if err != nil {
		stop()
		_ = conn.Close()
		return nil, login, refused(ctx, d, login, err)
	}
	return ssh.NewClient(sc, channels, requests), login, nil
}

// login is the first that is for a device.
func (f *Fleet) login(d inventory.Device) (Login, bool) {
	for _, l := range f.c.Logins {
		if l.fits(d) {
			return l, true
		}
	}
	return Login{}, false
}

// algorithms adds to those of today the ones that old devices need, where the settings allow them.
func (f *Fleet) algorithms(c *ssh.ClientConfig) *ssh.ClientConfig {
	if f.c.Legacy {
		old, now := ssh.InsecureAlgorithms(), ssh.SupportedAlgorithms()
		c.KeyExchanges = append(now.KeyExchanges, old.KeyExchanges...)
		c.Ciphers = append(now.Ciphers, old.Ciphers...)
		c.MACs = append(now.MACs, old.MACs...)
		if c.HostKeyAlgorithms == nil {
			c.HostKeyAlgorithms = append(now.HostKeys, old.HostKeys...)
		}
	}
	return c
}

// unanswered says why there is no connection, in no words of the network.
func unanswered(ctx context.Context, d inventory.Device, err error) error {
	var name *net.DNSError
	switch {
	case ctx.Err() != nil:
		return errSlow
	case errors.As(err, &name):
		return fmt.Errorf("the name %s cannot be looked up", d.Address)
	}
	return fmt.Errorf("nothing answers at %s", d.Endpoint())
}

// refused says why a login failed, in no words of the device.
func refused(ctx context.Context, d inventory.Device, l Login, err error) error {
	var key *KeyError
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, &key):
		key.Device = d.Name
		return key
	case ctx.Err() != nil:
		return fmt.Errorf("logging in: %w", errSlow)
	case errors.As(err, &negotiation):
		return errors.New("the device and this service have no algorithm of SSH in common, or it shows no host key of the pinned type: old devices need the setting device.legacy_algorithms")
	case strings.Contains(err.Error(), "unable to authenticate"): // the package has no type for it
		return fmt.Errorf("the device refuses the login %s (user %s): check its password or key", l.Name, l.User)
	}
	return errors.New("the device ends the connection before the login, or does not speak SSH")
}

// HostKey asks a device for its host key, and tells it nothing.
func (f *Fleet) HostKey(ctx context.Context, d inventory.Device) (key ssh.PublicKey, err error) {
	if d.Address == "" {
		return nil, errUnreachable
	}
	ctx, cancel := context.WithTimeout(ctx, f.c.Timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", d.Endpoint())
	if err != nil {
		return nil, unanswered(ctx, d, err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	seen := errors.New("the key was seen")
	_, _, _, err = ssh.NewClientConn(conn, d.Endpoint(), f.algorithms(&ssh.ClientConfig{
		HostKeyCallback: func(_ string, _ net.Addr, k ssh.PublicKey) error { key = k; return seen },
		ClientVersion:   "SSH-2.0-svc",
	}))
	if key == nil {
		return nil, refused(ctx, d, Login{}, err)
	}
	return key, nil
}
