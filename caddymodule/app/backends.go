package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/redis"
	"github.com/svc-gateway/svc/internal/settings"
)

// liveBus is a bus with what closes it.
type liveBus interface {
	bus.Bus
	Close() error
}

// inMemory is the bus of one process.
type inMemory struct{ *bus.Memory }

func (inMemory) Close() error { return nil }

// openBus opens the bus of the settings. A server that cannot be reached is no error: there are
// limits within this process until it can.
func openBus(ctx context.Context, s settings.Bus) (liveBus, error) {
	if s.Kind != settings.BusRedis {
		return inMemory{bus.NewMemory()}, nil
	}
	return redis.Open(ctx, s, redis.Options{Env: os.LookupEnv, Trouble: busTrouble})
}

func busTrouble(err error) {
	log := caddy.Log().Named("svc")
	if err == nil {
		log.Info("the live bus works again")
		return
	}
	log.Warn("the live bus is away: limits count within this process only, no run starts, and changes of users are looked up in the database", zap.Error(err))
}

// newNode names this process among those that share state: several may run on one host.
func newNode() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("naming this node: %w", err)
	}
	return host + "-" + strings.ToLower(rand.Text()[:8]), nil
}
