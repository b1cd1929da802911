package agents

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/agents/tools"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// newFleet is what the settings make of network devices.
func newFleet(s settings.Settings, home settings.Home, secrets *redact.Secrets) (*device.Fleet, error) {
	c := device.Config{
		Keys: device.OpenKeys(home.KnownHosts()), Timeout: s.Device.Timeout, Parallel: s.Device.Parallel, Output: int(s.Device.Output),
		Legacy: s.Device.LegacyAlgorithms, Redact: secrets.Redact,
	}
	for _, l := range s.DeviceLogins() {
		login, err := newLogin(l)
		if err != nil {
			return nil, fmt.Errorf("device_login %s: %w", l.Name, err)
		}
		c.Logins = append(c.Logins, login)
	}
	return device.New(c), nil
}

// newLogin reads the secrets of a login.
func newLogin(l settings.DeviceLogin) (device.Login, error) {
	login := device.Login{Name: l.Name, User: l.User, Devices: l.Devices}
	password, err1 := revealAny("password", l.Password)
	enable, err2 := revealAny("enable", l.Enable)
	key, err3 := revealAny("key", l.Key)
	passphrase, err4 := revealAny("passphrase", l.Passphrase)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return login, err
	}
	login.Password, login.Enable = device.Secret(password), device.Secret(enable)
	if key == "" {
		return login, nil
	}
	var err error
	if passphrase != "" {
		login.Key, err = ssh.ParsePrivateKeyWithPassphrase([]byte(key), []byte(passphrase))
	} else {
		login.Key, err = ssh.ParsePrivateKey([]byte(key))
	}
	if locked := new(ssh.PassphraseMissingError); errors.As(err, &locked) {
		return login, errors.New("key: it is locked: write where its passphrase is, in passphrase")
	}
	if err != nil {
		return login, errors.New("key: this is no private key as ssh-keygen writes it, or its passphrase is another one")
	}
	return login, nil
}

// deviceTools are the tools for network devices and their inventory.
func deviceTools(s settings.Settings, home settings.Home, db *analytics.DB, fleet *device.Fleet) []agents.Tool {
	table := inventory.NewTable(db)
	return []agents.Tool{
		tools.ImportInventory(table, s.Runtime.ProjectRoot, home.Dir()),
		device.CommandTool(fleet, table, s.Runtime.Timeout),
		device.ConfigTool(fleet, table, max(s.Runtime.Timeout, 3*s.Device.Timeout)),
	}
}
