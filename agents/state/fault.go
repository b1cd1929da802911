package state

import (
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

// fault adds what was being done to an error, and [agents.ErrUnavailable] to one of the database
// itself.
func fault(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agents.ErrUnavailable):
		return fmt.Errorf("%s: %w", doing, err)
	case store.Unavailable(err):
		return fmt.Errorf("%s: %w: %w", doing, agents.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
