package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// pool holds the shared resources of each data folder that the process uses.
var pool = caddy.NewUsagePool()

func init() {
	// By then every module has cleaned up, the ones that flush their last records included.
	caddy.OnExit(func(context.Context) {
		var open []*shared
		pool.Range(func(_, v any) bool { open = append(open, v.(*shared)); return true })
		for _, s := range open {
			if err := s.close(); err != nil {
				caddy.Log().Named("svc").Error("closing the data folder: " + err.Error())
			}
		}
	})
}

// shared is what all apps on one data folder have in common.
type shared struct {
	home     settings.Home
	node     string
	started  time.Time
	audit    *audit.Log
	identity *identity.Service
	policies policies
	bus      liveBus
	settings settings.Bus // that bus was opened with
	server   *server
	issuers  atomic.Pointer[oidc.Set] // of the newest configuration that started
	sources  sources
	watched  watched
	notes    notes

	stopping chan struct{}
	stopOnce sync.Once

	mu     sync.Mutex
	lock   *lock // held from the first start on
	closed bool
}

// acquire opens the resources of a data folder, as the settings say, or takes a share in the open
// ones, which must be what they say.
func acquire(home settings.Home, c settings.Settings) (*shared, error) {
	v, _, err := pool.LoadOrNew(home.Dir(), func() (caddy.Destructor, error) { return open(home, c) })
	if err != nil {
		return nil, err
	}
	s := v.(*shared)
	if !sameBus(s.settings, c.Bus) {
		return nil, errors.Join(errBusChanged, s.release())
	}
	return s, nil
}

// sameBus reports whether a bus opened with a would not differ with b.
func sameBus(a, b settings.Bus) bool {
	if a.Kind != settings.BusRedis && b.Kind != settings.BusRedis {
		return true
	}
	return reflect.DeepEqual(a, b)
}

var errBusChanged = errors.New("the settings bus.* have changed, and a running service keeps its live bus: restart it, or undo the change")

// open opens the databases and the bus. They are opened before the folder is claimed, because a
// configuration is also provisioned to be validated, while another process may serve.
func open(home settings.Home, c settings.Settings) (_ *shared, err error) {
	ctx := context.Background() // the resources outlive every configuration
	s := &shared{home: home, started: time.Now(), settings: c.Bus, stopping: make(chan struct{}), policies: policies{live: new(policy.Live)}}
	if s.node, err = newNode(); err != nil {
		return nil, err
	}
	if s.bus, err = openBus(ctx, c.Bus); err != nil {
		return nil, err
	}
	if s.audit, err = openTogether(ctx, home, s.node, s.watched.always("audit", sqliteKind)); err != nil {
		return nil, errors.Join(err, s.bus.Close())
	}
	var users Witness
	if s.identity, users, err = openIdentity(ctx, home, s.audit, s.bus, s.watched.always("users", sqliteKind)); err != nil {
		return nil, errors.Join(err, s.audit.Close(), s.bus.Close())
	}
	s.notes.add(users, home.IdentityDB())
	s.server = newServer(s.audit)
	return s, nil
}

// newNode names this process among those that share state: several may run on one host.
func newNode() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("naming this node: %w", err)
	}
	return host + "-" + strings.ToLower(rand.Text()[:8]), nil
}

// openFiles is open for a command that works on the files while no service does. It is alone, so
// that it needs no bus but its own.
func openFiles(home settings.Home) (*shared, error) { return open(home, settings.Settings{}) }

// claim makes this process the one that serves from the data folder.
func (s *shared) claim() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		return nil
	}
	l, err := acquireLock(s.home, lockWait)
	if err != nil {
		return err
	}
	return s.occupy(l)
}

// occupy shows that the process serves from the folder, which it has the lock of. If it cannot,
// it gives the lock back. The caller holds mu.
func (s *shared) occupy(l *lock) error {
	// Whoever wrote the old file is gone, or the lock were not ours.
	err := os.WriteFile(s.home.PIDFile(), fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600)
	if err == nil {
		err = s.server.listen(s.home.ControlSocket())
	}
	if err != nil {
		err = fmt.Errorf("claiming the data folder: %w", err)
		if gone := os.Remove(s.home.PIDFile()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return errors.Join(err, l.release())
	}
	s.lock = l
	s.notes.begin(s.audit)
	return nil
}

// serves reports whether the data folder is this process's own.
func (s *shared) serves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// Claim makes this process the one that serves from the data folder before a configuration does,
// so that databases are made and ports are opened only by who may serve: Caddy shares ports with
// other processes. c are the settings of the configuration to come. The folder must be there.
// Until an app answers, the control socket says
// not_ready. The configuration's app takes over what is claimed; release gives up the claim
// itself and is called when the configuration is loaded. The error is [ErrInUse] when another
// process works on the folder.
func Claim(home settings.Home, c settings.Settings) (release func(), err error) {
	l, err := acquireLock(home, lockWait)
	if err != nil {
		return nil, err
	}
	s, err := acquire(home, c)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	s.mu.Lock()
	err = s.occupy(l)
	s.mu.Unlock()
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	return sync.OnceFunc(func() { _ = s.release() }), nil
}

// stop tells every stream that the process goes down.
func (s *shared) stop() { s.stopOnce.Do(func() { close(s.stopping) }) }

func (s *shared) release() error {
	_, err := pool.Delete(s.home.Dir())
	return err
}

func (s *shared) hold() func() {
	_, _, _ = pool.LoadOrNew(s.home.Dir(), func() (caddy.Destructor, error) { return s, nil })
	return sync.OnceFunc(func() { _ = s.release() })
}

// Destruct closes the resources when nobody uses them any more. While the process exits it
// leaves that to the exit function: modules clean up in no particular order, and some still
// have records to write.
func (s *shared) Destruct() error {
	if caddy.Exiting() {
		pool.LoadOrStore(s.home.Dir(), s)
		return nil
	}
	return s.close()
}

func (s *shared) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{s.server.close()}
	if s.lock != nil {
		ctx, cancel := context.WithTimeout(context.Background(), noteTime)
		defer cancel()
		if err := s.notes.end(ctx, s.audit); err != nil && !errors.Is(err, audit.ErrUnavailable) { // that says Close
			errs = append(errs, err)
		}
		if err := os.Remove(s.home.PIDFile()); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.identity.Close(), s.audit.Close(), s.bus.Close())
	if s.lock != nil {
		errs = append(errs, s.lock.release())
	}
	return errors.Join(errs...)
}
