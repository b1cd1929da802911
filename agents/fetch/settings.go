package fetch

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/settings"
)

// FromSettings gives the configuration that the settings describe. It reads the file with the
// authorities, if there is one.
func FromSettings(s settings.Fetch) (Config, error) {
	c := Config{Size: int(s.Size), Timeout: s.Timeout}
	var err error
	if c.Hosts, err = reach.ParseHosts(s.Hosts); err != nil {
		return Config{}, fmt.Errorf("fetch.hosts: %w", err)
	}
	for _, text := range s.Reach {
		var n netip.Prefix
		if n, err = reach.ParseNetwork(text); err != nil {
			return Config{}, fmt.Errorf("fetch.reach: %w", err)
		}
		c.Networks = append(c.Networks, n)
	}
	if s.CAFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		return Config{}, fmt.Errorf("reading fetch.ca_file: %w", err)
	}
	if c.Roots = x509.NewCertPool(); !c.Roots.AppendCertsFromPEM(pem) {
		return Config{}, errors.New("fetch.ca_file: there is no certificate in the file " + s.CAFile)
	}
	return c, nil
}
