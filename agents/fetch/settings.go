package fetch

import (
	"fmt"
	"net/netip"

	"github.com/svc-gateway/svc/internal/certpool"
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
	if c.Roots, err = certpool.Read(s.CAFile); err != nil {
		return Config{}, fmt.Errorf("fetch.ca_file: %w", err)
	}
	return c, nil
}
