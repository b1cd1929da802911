//go:build !linux && !darwin && !freebsd

package disk

import "errors"

func of(string) (Space, error) { return Space{}, errors.ErrUnsupported }
