package redis

import (
	"crypto/tls"
	"fmt"
	"runtime"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/settings"
)

// minPool is how many connections to a server there may be at least; operations are short.
const minPool = 16

// quieten keeps the client library from writing to stderr. What is wrong comes as errors too.
var quieten = sync.OnceFunc(logging.Disable)

func newClient(s settings.Bus, env func(string) (string, bool)) (goredis.UniversalClient, error) {
	quieten()
	password, err := reveal("bus.password", s.Password, env)
	if err != nil {
		return nil, err
	}
	sentinelPassword, err := reveal("bus.sentinel_password", s.SentinelPassword, env)
	if err != nil {
		return nil, err
	}
	pool := max(minPool, 4*runtime.GOMAXPROCS(0))
	o := &goredis.UniversalOptions{
		Addrs: s.Endpoints(), DB: s.Database, MasterName: s.MasterName, IsClusterMode: s.Mode == settings.RedisCluster,
		Username: s.User, Password: password, SentinelUsername: s.SentinelUser, SentinelPassword: sentinelPassword,

		// Operations have a deadline that covers all of this.
		ContextTimeoutEnabled: true,
		DialTimeout:           s.Timeout, ReadTimeout: s.Timeout, WriteTimeout: s.Timeout, PoolTimeout: s.Timeout,
		DialerRetries: 1, MaxRetries: 1, MinRetryBackoff: time.Millisecond, MaxRetryBackoff: 50 * time.Millisecond,

		PoolSize: pool, MaxActiveConns: 2 * pool, ConnMaxIdleTime: 5 * time.Minute, PipelinePoolSize: -1,
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,

		// RESP2 has all that is needed, and pushes nothing between the answers.
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if s.Encrypted() {
		if o.TLSConfig, err = encryption(s); err != nil {
			return nil, err
		}
	}
	if s.Mode != settings.RedisCluster {
		return goredis.NewUniversalClient(o), nil
	}
	cluster := o.Cluster()
	cluster.DisableRoutingPolicies = true // or it asks for the table of all commands
	return goredis.NewClusterClient(cluster), nil
}

func reveal(key string, r settings.Reference, env func(string) (string, bool)) (string, error) {
	if r == "" {
		return "", nil
	}
	v, err := r.Reveal(env)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	return v, nil
}

func encryption(s settings.Bus) (*tls.Config, error) {
	roots, err := certpool.Read(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("bus.ca_file: %w", err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.ServerName, RootCAs: roots}
	if s.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("bus.cert_file and bus.key_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
