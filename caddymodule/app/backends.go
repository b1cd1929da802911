package app

import (
	"context"
	"errors"
	"os"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	auditsqlite "github.com/svc-gateway/svc/audit/sqlite"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/redis"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	identitysqlite "github.com/svc-gateway/svc/policy/identity/sqlite"
)

// This file alone chooses the storage of the audit log, of the users and of live state.

// sqliteKind is what these databases are called where the health of the service is told.
const sqliteKind = "sqlite"

func openAudit(ctx context.Context, home settings.Home, node string, trouble func(string, error)) (*audit.Log, error) {
	store, err := auditsqlite.Open(ctx, home.AuditDB(), auditsqlite.WithTrouble(trouble))
	if err != nil {
		return nil, err
	}
	return audit.New(store, node), nil
}

// OpenAuditReader opens the audit log of a data folder for reading, whether a service runs on the
// folder or not. The caller closes the Reader.
func OpenAuditReader(ctx context.Context, home settings.Home) (*audit.Reader, error) {
	return openAuditFile(ctx, home.AuditDB())
}

func openAuditFile(ctx context.Context, path string) (*audit.Reader, error) {
	return auditsqlite.OpenReader(ctx, path)
}

// OpenAuditArchives opens archives of the audit log, of this data folder or another, to be queried.
func OpenAuditArchives(paths []string) (*audit.Reader, error) { return auditsqlite.OpenArchives(paths) }

// identityDatabase is the database of the users while nobody, or another process, has it open.
var identityDatabase = Database{
	Path: settings.Home.IdentityDB, Witnessed: identitysqlite.Witnessed, WitnessAt: identitysqlite.WitnessAt, Check: identitysqlite.Check, Backup: identitysqlite.Backup,
}

func openIdentity(ctx context.Context, home settings.Home, log *audit.Log, b bus.Bus, trouble func(string, error)) (*identity.Service, Witness, error) {
	store, err := identitysqlite.Open(ctx, home.IdentityDB(), identitysqlite.WithTrouble(trouble))
	if err != nil {
		return nil, nil, err
	}
	s, err := identity.New(ctx, store, log, b, identity.WithKey(home.IdentityKey()))
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return s, store, nil
}

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
