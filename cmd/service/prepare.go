package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/internal/settings"
)

// errTaken means that another program listens where the service is to.
var errTaken = errors.New("taken by another program")

// prepare makes everything ready for a start that can be: the data folder, the configuration
// and its settings. What is wrong is said here in its own words, before Caddy says it in more.
func (o startOptions) prepare(w io.Writer) (home settings.Home, s settings.Settings, doc []byte, err error) {
	if home, err = app.LocateHome(); err != nil {
		return home, s, nil, err
	}
	if err := o.apply(); err != nil {
		return home, s, nil, err
	}
	commands.WarnStray(w)
	if err := home.Create(); err != nil {
		return home, s, nil, err
	}
	if doc, err = o.configuration(w); err != nil {
		return home, s, nil, err
	}
	written, err := app.Sections(doc)
	if err != nil {
		return home, s, nil, err
	}
	s, values, err := app.Resolve(home, written)
	if err != nil {
		return home, s, nil, err
	}
	if err := s.CheckEnvironment(os.LookupEnv); err != nil {
		return home, s, nil, settings.Placed(err, values, settings.PlacesIn(written))
	}
	return home, s, doc, nil
}

// checkListen makes sure that the ports are free. Caddy shares ports with other processes
// (SO_REUSEPORT), so a second service would start and get half of the requests.
func checkListen(doc []byte) error {
	var config struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					Listen []string `json:"listen"`
				} `json:"servers"`
			} `json:"http"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(doc, &config); err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	for _, server := range config.Apps.HTTP.Servers {
		for _, listen := range server.Listen {
			na, err := caddy.ParseNetworkAddress(caddy.NewReplacer().ReplaceAll(listen, ""))
			if err != nil {
				return fmt.Errorf("reading the configuration: %w", err)
			}
			if na.IsUnixNetwork() || na.IsFdNetwork() {
				continue
			}
			for i := range na.PortRangeSize() {
				if err := try(na.JoinHostPort(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func try(address string) error {
	ln, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return ln.Close()
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is %w: use --port with another one, or see who has it with ss -ltnp", address, errTaken)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listening on %s is not permitted: use a port above 1023, or give the program CAP_NET_BIND_SERVICE", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is not an address of this host: use --host with one that is, or 0.0.0.0 for all", address)
	}
	return fmt.Errorf("listening on %s: %w", address, err)
}
