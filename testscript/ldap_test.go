//go:build linux

package testscript

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// slapd runs the directory of package ldaptest; the script's environment says how to reach it.
func slapd(c *call) error {
	if len(c.args) != 1 {
		return errors.New("usage: slapd start|stop|pause|resume")
	}
	switch c.args[0] {
	case "start":
		return c.startDirectory()
	case "stop":
		return c.directory.Stop()
	case "pause":
		return c.directory.Pause()
	case "resume":
		return c.directory.Resume()
	}
	return errors.New("usage: slapd start|stop|pause|resume")
}

func (c *call) startDirectory() error {
	if c.directory != nil {
		return c.directory.Run()
	}
	dir := filepath.Join(c.home, "slapd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	s, err := ldaptest.Start(dir)
	if err != nil {
		return err
	}
	c.directory = s
	c.cleanup(func() { _ = s.Close() })
	for name, value := range map[string]string{
		"LDAP_URL": s.URL, "LDAPS_URL": s.TLSURL, "LDAP_CA": s.CAFile,
		"LDAP_BASE": ldaptest.BaseDN, "LDAP_BIND_DN": ldaptest.BindDN, "LDAP_PASSWORD": ldaptest.BindPassword,
		"LDAP_ROOT_DN": ldaptest.RootDN, "LDAP_ROOT_PASSWORD": ldaptest.RootPassword,
	} {
		c.ts.Setenv(name, value)
	}
	return nil
}
