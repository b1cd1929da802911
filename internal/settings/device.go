package settings

import (
	"errors"
	"time"
)

// Device says how network devices are reached.
type Device struct {
	// Timeout is how long one device may take for one command. Default: 30s.
	Timeout time.Duration
	// Parallel is how many devices are talked to at once. Default: 50.
	Parallel int
	// Output is how much of what one device says is read, in bytes. Default: 256 KiB.
	Output int64
	// LegacyAlgorithms allows algorithms of SSH that are broken. Default: false.
	LegacyAlgorithms bool
}

// DeviceLogin is what some devices are logged in to with.
type DeviceLogin struct {
	// Name is what the login is called.
	Name string
	// User is the name of the user on the devices.
	User string
	// Password is where the user's password is.
	Password Reference
	// Key is where the user's private key is, in PEM or OpenSSH's form.
	Key Reference
	// Passphrase is where the passphrase of that key is.
	Passphrase Reference
	// Enable is where the password for the command enable is.
	Enable Reference
	// Devices are the names of devices and groups that it is for. Default: all.
	Devices []string
}

// DeviceLogins returns the logins for devices, in their order.
func (s Settings) DeviceLogins() []DeviceLogin { return deviceLogins.of(s) }

var deviceLogins = register(&objects[DeviceLogin]{
	key: "device_logins", block: "device_login", one: "a login for network devices",
	doc:  "logins for network devices. The first that is for a device is used. See [devices.md](devices.md#logins)",
	name: func(l *DeviceLogin) *string { return &l.Name },
	fields: []field[DeviceLogin]{
		text("user", "", "name of the user on the devices",
			func(l *DeviceLogin) *string { return &l.User }, nil).
			required("write the name of the user on the devices"),
		secret("password", "where the user's password is",
			func(l *DeviceLogin) *Reference { return &l.Password }),
		secret("key", "where the user's private key is, as `ssh-keygen` writes it; it is tried before the password",
			func(l *DeviceLogin) *Reference { return &l.Key }),
		secret("passphrase", "where the passphrase of that key is",
			func(l *DeviceLogin) *Reference { return &l.Passphrase }),
		secret("enable", "where the password for the command `enable` is. With it, commands on ios and eos run with all rights",
			func(l *DeviceLogin) *Reference { return &l.Enable }),
		list("devices", "all", "names of devices, and groups: of the inventory, `site:NAME`, `role:NAME`, `platform:NAME`, `all`",
			func(l *DeviceLogin) *[]string { return &l.Devices }, nil),
	},
	complete: func(l *DeviceLogin) error {
		switch {
		case l.Password == "" && l.Key == "":
			return errors.New("password and key are missing: write where one of them is")
		case l.Passphrase != "" && l.Key == "":
			return errors.New("passphrase is of no use without key")
		}
		return nil
	},
})
