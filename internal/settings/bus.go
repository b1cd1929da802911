package settings

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The live buses that bus.kind knows.
const (
	BusMemory = "memory" // within this process
	BusRedis  = "redis"
)

// How a Redis is set up, for bus.mode.
const (
	RedisSingle   = "single"
	RedisSentinel = "sentinel"
	RedisCluster  = "cluster"
)

// Bus says where the live state is that several processes share. Package internal/bus/redis uses it.
type Bus struct {
	// Kind is memory or redis. Default: memory.
	Kind string
	// Address lists the server, the sentinels or some nodes of the cluster: host:port, the
	// absolute path of a unix socket, or redis://host[:port], or rediss:// for TLS.
	Address []string
	// Mode is single, sentinel or cluster. Default: single.
	Mode string
	// MasterName is what the sentinels call the server.
	MasterName string
	// User is the name of an ACL user. Default: the server's user default.
	User string
	// Password is where the user's password is.
	Password Reference
	// SentinelUser and SentinelPassword are for the sentinels themselves. Default: none.
	SentinelUser     string
	SentinelPassword Reference
	// Database is the number of the database. Default: 0.
	Database int
	// TLS encrypts the connections. Default: false, true with rediss:// addresses.
	TLS bool
	// ServerName is the name that the servers' certificates must have. Default: the host of the
	// address.
	ServerName string
	// CAFile is a PEM file with the authorities that sign the servers' certificates. Default:
	// those of the system.
	CAFile string
	// CertFile and KeyFile are PEM files with the certificate that this service shows, and its
	// key. Default: none.
	CertFile, KeyFile string
	// Prefix begins the name of every key and channel. Default: svc:.
	Prefix string
	// Timeout bounds every operation. Default: 1s.
	Timeout time.Duration
}

// defaultRedisPort and defaultSentinelPort are those of addresses redis://host.
const (
	defaultRedisPort    = "6379"
	defaultSentinelPort = "26379"
)

// Endpoints returns the addresses as host:port or absolute path.
func (b Bus) Endpoints() []string {
	port := defaultRedisPort
	if b.Mode == RedisSentinel {
		port = defaultSentinelPort
	}
	list := make([]string, len(b.Address))
	for i, a := range b.Address {
		list[i] = a
		if u, err := url.Parse(a); err == nil && isRedisURL(a) {
			list[i] = net.JoinHostPort(u.Hostname(), port)
			if u.Port() != "" {
				list[i] = u.Host
			}
		}
	}
	return list
}

// Encrypted reports whether the connections are.
func (b Bus) Encrypted() bool {
	return b.TLS || slices.ContainsFunc(b.Address, func(a string) bool { return strings.HasPrefix(a, "rediss://") })
}

func isRedisURL(address string) bool {
	return strings.HasPrefix(address, "redis://") || strings.HasPrefix(address, "rediss://")
}

func checkBusKind(kind string) error { return oneOf(kind, "kind of bus", BusMemory, BusRedis) }

func checkBusMode(mode string) error {
	return oneOf(mode, "mode", RedisSingle, RedisSentinel, RedisCluster)
}

var errBusAddress = errors.New("this is not an address such as 127.0.0.1:6379, /run/redis/redis.sock or rediss://redis.example.com")

// checkBusAddresses never repeats an address that is wrong: it may have a password in it.
func checkBusAddresses(addresses []string) error {
	for _, a := range addresses {
		if err := checkBusAddress(a); err != nil {
			return err
		}
	}
	return noneTwice(addresses)
}

func checkBusAddress(address string) error {
	switch {
	case strings.HasPrefix(address, "/"):
		return nil
	case isRedisURL(address):
		u, err := url.Parse(address)
		switch {
		case err != nil || u.Hostname() == "" && u.User == nil:
			return errBusAddress
		case u.User != nil:
			return errBusPassword
		case strings.Trim(u.Path, "/") != "":
			return errors.New("an address ends with the host or the port: the number of the database is bus.database")
		case u.RawQuery != "" || u.Fragment != "":
			return errors.New("an address must not carry a query or fragment: what else there is to say has settings of its own")
		}
		return nil
	case strings.Contains(address, "@"):
		return errBusPassword
	}
	host, port, err := net.SplitHostPort(address)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" || strings.ContainsAny(host, "/ ") {
		return errBusAddress
	}
	return nil
}

var errBusPassword = errors.New("an address must not carry a user or password: use bus.user, and bus.password with {env.NAME} or {file./path}")

func checkBusPrefix(prefix string) error {
	if len(prefix) > 64 || strings.ContainsFunc(prefix, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`{}*?[]\`, r) }) {
		return errors.New(`this is not a prefix for keys: use at most 64 letters, digits and signs other than {}*?[]\`)
	}
	return nil
}

// check looks at what concerns more than one setting.
func (b Bus) check() error {
	var errs []error
	problem := problems(&errs, "bus.kind")
	onSocket := slices.ContainsFunc(b.Address, func(a string) bool { return strings.HasPrefix(a, "/") })
	plain := slices.ContainsFunc(b.Address, func(a string) bool { return strings.HasPrefix(a, "redis://") })
	sentinel, encrypted := b.Mode == RedisSentinel, b.Encrypted()
	problem(len(b.Address) == 0, "bus.address", " is missing: bus.kind redis needs the address of the server, such as 127.0.0.1:6379")
	problem(b.Mode == RedisSingle && len(b.Address) > 1, "bus.address", " lists several servers, and bus.mode single has one: use bus.mode sentinel or cluster, or leave one address")
	problem(b.Mode != RedisSingle && onSocket, "bus.address", " is a unix socket: bus.mode "+b.Mode+" needs host:port, because the servers tell each other's addresses")
	problem(sentinel && b.MasterName == "", "bus.master_name", " is missing: bus.mode sentinel needs the name that the sentinels have for the server")
	problem(!sentinel && b.MasterName != "", "bus.master_name", " has no effect: it belongs to bus.mode sentinel")
	problem(!sentinel && (b.SentinelUser != "" || b.SentinelPassword != ""), "bus.sentinel_user", " and bus.sentinel_password have no effect: they belong to bus.mode sentinel")
	problem(b.User != "" && b.Password == "", "bus.password", " is missing: bus.user needs one")
	problem(b.SentinelUser != "" && b.SentinelPassword == "", "bus.sentinel_password", " is missing: bus.sentinel_user needs one")
	problem(b.Mode == RedisCluster && b.Database != 0, "bus.database", " has no effect: a cluster has the database 0 only; use bus.prefix to keep two services apart")
	problem(encrypted && plain, "bus.address", " has redis:// where all connections are encrypted: write rediss://")
	problem(!encrypted && (b.CAFile != "" || b.CertFile != "" || b.KeyFile != "" || b.ServerName != ""),
		"bus.ca_file", ", bus.cert_file, bus.key_file and bus.server_name have no effect without bus.tls true")
	problem(encrypted && onSocket && b.ServerName == "", "bus.server_name", " is missing: a unix socket has no name that its certificate could have")
	problem((b.CertFile == "") != (b.KeyFile == ""), "bus.cert_file", " and bus.key_file belong together: one of them is missing")
	return errors.Join(errs...)
}

// checkSecrets reports a password that is not there.
func (b Bus) checkSecrets(env func(string) (string, bool)) error {
	if b.Kind != BusRedis {
		return nil
	}
	for _, secret := range []struct {
		key string
		ref Reference
	}{{"bus.password", b.Password}, {"bus.sentinel_password", b.SentinelPassword}} {
		if secret.ref == "" {
			continue
		}
		if _, err := secret.ref.Reveal(env); err != nil {
			return About(fmt.Errorf("%s: %w", secret.key, err), secret.key)
		}
	}
	return nil
}

// Shorthand returns the keys of the settings that words behind the name of a section stand for in
// a Caddyfile: one word for each, and what is left for the last. Most sections have none.
func Shorthand(section string) []string {
	if section == "bus" {
		return []string{"kind", "address"}
	}
	return nil
}
