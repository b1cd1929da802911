//go:build linux || darwin || freebsd

package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func of(path string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return Space{}, fmt.Errorf("asking for the space left at %s: %w", path, err)
	}
	block := uint64(s.Bsize)
	return Space{Free: uint64(max(s.Bavail, 0)) * block, Size: s.Blocks * block}, nil //nolint:unconvert // Bavail is an int64 on FreeBSD
}
