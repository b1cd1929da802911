package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/settings"
)

// lockWait is how long a start waits for an admin command that is at work, or for the
// service that is just going down.
const lockWait = 3 * time.Second

// ErrInUse means that another process works on the data folder.
var ErrInUse = errors.New("the data folder is in use")

// lock is the right to write in a data folder. The system takes it back when the process
// ends, however it ends.
type lock struct{ file *os.File }

// acquireLock waits until the data folder is free or the time is over.
func acquireLock(home settings.Home, wait time.Duration) (*lock, error) {
	f, err := os.OpenFile(home.LockFile(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	deadline := time.Now().Add(wait)
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return &lock{f}, nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("locking the data folder: %w", err), f.Close())
		case time.Now().After(deadline):
			return nil, errors.Join(inUse(home), f.Close())
		default:
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // flock has no deadline of its own
		}
	}
}

func inUse(home settings.Home) error {
	by := "another process"
	if pid, err := os.ReadFile(home.PIDFile()); err == nil {
		by = "the process " + strings.TrimSpace(string(pid))
	}
	return fmt.Errorf("%w: %s works on %s; stop it, or set SVC_HOME to another folder", ErrInUse, by, home.Dir())
}

func (l *lock) release() error { return l.file.Close() }

// Busy reports whether a process works on the data folder: a service, or an admin command.
func Busy(home settings.Home) (bool, error) {
	return WhileFree(home, func() error { return nil })
}

// WhileFree calls f while no process works on the data folder and none can begin to. It reports
// whether one does, and then f is not called; neither is it in a folder that was never worked on.
func WhileFree(home settings.Home, f func() error) (busy bool, err error) {
	if _, err := os.Stat(home.LockFile()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l, err := acquireLock(home, 0)
	if errors.Is(err, ErrInUse) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, errors.Join(f(), l.release())
}
