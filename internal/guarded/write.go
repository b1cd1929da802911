//go:build unix

package guarded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Write puts a file at a path, with mode 0600, in the place of one that is there. A crash leaves the old one or
// the new one. Of two who write at a time one wins.
func Write(path string, content []byte) error { return write(path, content, 0o600) }

// WriteProgram is Write for a file that can be run, with mode 0700.
func WriteProgram(path string, content []byte) error { return write(path, content, 0o700) }

func write(path string, content []byte, mode os.FileMode) error {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it is what is at the path now
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close(), Give(f.Name(), folder)); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Alone calls do while no other process and no other caller does something in a folder alone. So a file that is
// read and written again loses nothing of what another one writes.
func Alone(folder string, do func() error) (err error) {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // which ends the lock
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("locking %s: %w", folder, err)
	}
	return do()
}

// Give makes what a command of root's has made the property of the service's user, who has the folder.
func Give(path, folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		return err
	}
	return os.Lchown(path, int(st.Uid), int(st.Gid))
}
