package state

import (
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/agents"
)

// fault adds what was being done to an error, and [agents.ErrUnavailable] to one of the database
// itself.
func (s *Store) fault(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agents.ErrUnavailable):
		return fmt.Errorf("%s: %w", doing, err)
	case s.db.Unavailable(err):
		return fmt.Errorf("%s: %w: %w", doing, agents.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
