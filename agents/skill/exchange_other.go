//go:build !linux

package skill

import "errors"

// exchange is for Linux.
func exchange(_, _ string) error { return errors.ErrUnsupported }
