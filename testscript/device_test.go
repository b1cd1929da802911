//go:build linux

package testscript

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents/device/devicetest"
)

// devices are the network devices of a script, by name.
type devices map[string]*devicetest.Device

// device is a network device. Its start sets NAME_PORT.
func device(c *call) error {
	usage := errors.New("usage: device start NAME ios|junos [FAULT] | running|commands|key|logins|rekey NAME")
	if len(c.args) < 2 {
		return usage
	}
	name := c.args[1]
	if c.args[0] == "start" && len(c.args) > 2 {
		o := devicetest.Options{Platform: c.args[2], Name: name, User: true}
		if len(c.args) > 3 {
			o.Fault = devicetest.Fault(c.args[3])
		}
		d, err := devicetest.Open(o)
		if err != nil {
			return err
		}
		c.cleanup(d.Close)
		if c.devices == nil {
			c.devices = devices{}
		}
		c.devices[name] = d
		c.ts.Setenv(strings.ToUpper(name)+"_PORT", fmt.Sprint(d.Port()))
		return nil
	}
	d, ok := c.devices[name]
	if !ok {
		return usage
	}
	switch c.args[0] {
	case "running":
		fmt.Fprint(&c.out, d.Running())
	case "commands":
		fmt.Fprintln(&c.out, strings.Join(d.Commands(), "\n"))
	case "key":
		fmt.Fprintln(&c.out, ssh.FingerprintSHA256(d.Key()))
	case "logins":
		fmt.Fprintln(&c.out, d.Logins())
	case "rekey":
		return d.Rekey()
	default:
		return usage
	}
	return nil
}
