package agents

import (
	"fmt"
	"os"

	"github.com/svc-gateway/svc/internal/settings"
)

// reveal gets the secret that a setting refers to.
func reveal(setting string, r settings.Reference) (string, error) {
	v, err := r.Reveal(os.LookupEnv)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	return v, nil
}

// revealAny is reveal for a setting that may be empty: then there is no secret.
func revealAny(setting string, r settings.Reference) (string, error) {
	if r == "" {
		return "", nil
	}
	return reveal(setting, r)
}
