package device

import (
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents/inventory"
)

// Login is what devices are logged in to with.
type Login struct {
	Name     string
	User     string
	Password Secret
	Key      ssh.Signer // nil: none
	Enable   Secret     // for the command enable
	// Devices are the names of devices and groups that it is for; see [inventory.List.Group].
	Devices []string
}

// Secret is a password. It does not print itself.
type Secret string

// String is REDACTED.
func (Secret) String() string { return "REDACTED" }

// GoString is REDACTED, too.
func (Secret) GoString() string { return "REDACTED" }

// MarshalJSON is REDACTED, too.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"REDACTED"`), nil }

// fits reports whether the login is for a device.
func (l Login) fits(d inventory.Device) bool {
	return slices.ContainsFunc(l.Devices, func(name string) bool {
		if strings.EqualFold(name, d.Name) {
			return true
		}
		found, err := inventory.List{d}.Group(name)
		return err == nil && len(found) == 1
	})
}

// methods are the ways to prove who logs in: the key, then the password.
func (l Login) methods() []ssh.AuthMethod {
	var all []ssh.AuthMethod
	if l.Key != nil {
		all = append(all, ssh.PublicKeys(l.Key))
	}
	if l.Password != "" {
		all = append(all, ssh.Password(string(l.Password)),
			ssh.KeyboardInteractive(func(_, _ string, questions []string, echos []bool) ([]string, error) {
				answers := make([]string, len(questions))
				if len(questions) == 1 && !echos[0] { // the only question that a password is an answer to
					answers[0] = string(l.Password)
				}
				return answers, nil
			}))
	}
	return all
}
