package app

import (
	"context"
	"errors"

	"github.com/svc-gateway/svc/audit"
	auditsqlite "github.com/svc-gateway/svc/audit/sqlite"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	identitysqlite "github.com/svc-gateway/svc/policy/identity/sqlite"
)

// This file alone chooses the storage of the audit log and of the users.

func openAudit(ctx context.Context, home settings.Home, node string) (*audit.Log, error) {
	store, err := auditsqlite.Open(ctx, home.AuditDB())
	if err != nil {
		return nil, err
	}
	return audit.New(store, node), nil
}

// OpenAuditReader opens the audit log of a data folder for reading, whether a service runs on the
// folder or not. The caller closes the Reader.
func OpenAuditReader(ctx context.Context, home settings.Home) (*audit.Reader, error) {
	return auditsqlite.OpenReader(ctx, home.AuditDB())
}

func openIdentity(ctx context.Context, home settings.Home, log *audit.Log, b bus.Bus) (*identity.Service, error) {
	store, err := identitysqlite.Open(ctx, home.IdentityDB())
	if err != nil {
		return nil, err
	}
	s, err := identity.New(ctx, store, log, b, identity.WithKey(home.IdentityKey()))
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}
