package settings

import (
	"time"

	"github.com/svc-gateway/svc/internal/reach"
)

// Fetch says what the tools http_get and http_request may ask for.
type Fetch struct {
	// Hosts are the servers that may be asked, see [reach.ParseHost]. Default: none, and the tool says so.
	Hosts []string
	// Reach are addresses and networks that are not public and that may be reached nevertheless, see
	// [reach.ParseNetwork]. Default: none.
	Reach []string
	// Size is how much text of an answer is shown, in bytes. Default: 100 KiB.
	Size int64
	// Timeout is how long one call may take. Default: 20s.
	Timeout time.Duration
	// CAFile is the absolute path of a PEM file with the authorities of the servers' certificates.
	// Default: those of the system.
	CAFile string
}

// checkHosts refuses what is not a list of servers.
func checkHosts(items []string) error {
	_, err := reach.ParseHosts(items)
	return err
}

// checkNetworks refuses what is not a list of addresses and networks.
func checkNetworks(items []string) error {
	for _, text := range items {
		if _, err := reach.ParseNetwork(text); err != nil {
			return err
		}
	}
	return nil
}
