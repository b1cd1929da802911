package skill

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange has two folders take each other's place at once. The error matches [errors.ErrUnsupported] where a
// file system cannot do that.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}
