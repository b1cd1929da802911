//go:build linux

package testscript

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/svc-gateway/svc/internal/bus/redistest"
)

// redis runs a Redis of package redistest; $REDIS is its address.
func redis(c *call) error {
	if len(c.args) != 1 {
		return errors.New("usage: redis start|stop|pause|resume")
	}
	switch c.args[0] {
	case "start":
		return c.startRedis()
	case "stop":
		return c.redis.Stop()
	case "pause":
		return c.redis.Pause()
	case "resume":
		return c.redis.Resume()
	}
	return errors.New("usage: redis start|stop|pause|resume")
}

func (c *call) startRedis() error {
	if c.redis != nil {
		return c.redis.Run()
	}
	dir := filepath.Join(c.home, "redis")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	s, err := redistest.Start(dir, redistest.Config{})
	if err != nil {
		return err
	}
	c.redis = s
	c.cleanup(func() { _ = s.Stop() })
	c.ts.Setenv("REDIS", s.Address)
	return nil
}

// gateway turns to one of several services: what comes next is about the one in the data folder
// $HOME/NAME, on a port of its own.
func gateway(c *call) error {
	if len(c.args) != 1 {
		return errors.New("usage: gateway NAME")
	}
	name := c.args[0]
	port, known := c.gateways[name]
	if !known {
		var err error
		if port, err = reservePort(c.cleanup); err != nil {
			return err
		}
		c.gateways[name] = port
	}
	c.port, c.folder = port, filepath.Join(c.home, name)
	for name, value := range map[string]string{"PORT": port, "SVC_PORT": port, "SVC_HOME": c.folder} {
		c.ts.Setenv(name, value)
	}
	return nil
}
