package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/settings"
)

// bootstrap gives a service without users its first one, admin, and puts the token where the
// command line looks for it. The token itself is never logged.
func (a *App) bootstrap() error {
	if !a.settings.Auth.Has(settings.ModeToken) {
		return nil
	}
	secret, created, err := a.Identity().Bootstrap(a.ctx)
	if err != nil {
		return fmt.Errorf("creating the first user: %w", err)
	}
	if !created {
		return nil
	}
	// A token that is there belongs to another service, or to users that are gone.
	if err := os.Rename(a.home.Token(), a.home.Token()+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keeping the old token: %w", err)
	}
	if err := a.home.WriteToken(secret.Reveal()); err != nil {
		return err
	}
	a.logger.Info("created the first user", zap.String("user", "admin"), zap.String("token_file", a.home.Token()))
	return nil
}
