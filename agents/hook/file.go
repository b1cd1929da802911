package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

const (
	maxFile = 1 << 20         // bytes
	racy    = 2 * time.Second // a file that changed so recently may change again without its times showing it
)

// errRefused says that the file is not one that commands may be taken from.
var errRefused = errors.New("refused, and no hook runs")

// errChanging says that the file is being written.
var errChanging = errors.New("the file changed while it was read")

// stamp tells the states of a file and its folder's rights apart. The zero stamp is that of a file that
// is not there.
type stamp struct {
	dev, ino, size, mode, folderMode uint64
	uid, folderUID                   uint32
	mtime, ctime                     unix.Timespec
}

// file is hooks.json as it was seen last.
type file struct {
	path    string
	user    int // who the service runs as
	entries []entry

	loaded  bool
	stamp   stamp
	settled bool   // the same stamp means the same content
	text    []byte // nil when it could not be read
	problem string
}

// load reads the file if it has changed. It tells what is wrong with it once for each change.
func (f *file) load() (changed bool, mistakes []error) {
	if s, err := stampOf(f.path); f.loaded && f.settled && err == nil && s == f.stamp {
		return false, nil
	}
	text, s, err := f.read()
	if errors.Is(err, errChanging) {
		return false, nil // there is a better moment
	}
	var entries []entry
	usable := errors.Is(err, errRefused)
	if err != nil {
		mistakes = []error{err}
	} else {
		entries, mistakes, usable = parse(text)
	}
	problem := fmt.Sprint(mistakes)
	changed = !f.loaded || problem != f.problem || !bytes.Equal(text, f.text)
	f.loaded, f.stamp, f.settled, f.text, f.problem = true, s, settled(s), text, problem
	if !changed {
		return false, nil
	}
	if usable {
		f.entries = entries
	}
	return true, mistakes
}

// settled reports whether a change after now is sure to change the stamp.
func settled(s stamp) bool {
	age := time.Since(time.Unix(s.ctime.Unix()))
	return age > racy || s == stamp{}
}

// stampOf is the stamp of what is at path, which is not followed.
func stampOf(path string) (stamp, error) {
	var st, folder unix.Stat_t
	err := unix.Lstat(path, &st)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err == nil {
		err = unix.Stat(filepath.Dir(path), &folder)
	}
	return newStamp(&st, &folder), err
}

func newStamp(st, folder *unix.Stat_t) stamp {
	return stamp{
		dev: st.Dev, ino: st.Ino, size: uint64(st.Size), mode: uint64(st.Mode), uid: st.Uid,
		folderMode: uint64(folder.Mode), folderUID: folder.Uid, mtime: st.Mtim, ctime: st.Ctim,
	}
}

// read returns the content of the file, or the default if there is none. The error is errRefused when
// somebody other than the service's user or root could have written it.
func (f *file) read() (text []byte, s stamp, err error) {
	path := f.path
	r, err := guarded.Open(path)
	if refusal, ok := errors.AsType[guarded.Refusal](err); ok {
		s, _ := stampOf(path)
		return nil, s, fmt.Errorf("%w: %w", errRefused, refusal)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []byte(none), stamp{}, nil
	case err != nil:
		return nil, stamp{}, fmt.Errorf("opening it: %w", err)
	}
	defer r.Close()
	fd := int(r.Fd())
	var before, after, folder unix.Stat_t
	if err := errors.Join(unix.Fstat(fd, &before), unix.Stat(filepath.Dir(path), &folder)); err != nil {
		return nil, stamp{}, fmt.Errorf("looking at it: %w", err)
	}
	s = newStamp(&before, &folder)
	if err := f.trusted(&before, &folder); err != nil {
		return nil, s, err
	}
	if text, err = io.ReadAll(io.LimitReader(r, maxFile+1)); err != nil {
		return nil, s, fmt.Errorf("reading it: %w", err)
	}
	if err := unix.Fstat(fd, &after); err != nil || newStamp(&after, &folder) != s {
		return nil, s, errChanging
	}
	if len(text) > maxFile {
		return nil, s, fmt.Errorf("%w: it is larger than %d MiB", errRefused, maxFile>>20)
	}
	return text, s, nil
}

// trusted returns nil for a file that only the service's user and root could have written, in a folder of which
// the same is true.
func (f *file) trusted(st, folder *unix.Stat_t) error {
	if !guarded.Regular(st) {
		return fmt.Errorf("%w: it is not a regular file", errRefused)
	}
	if err := f.own(st, "it", "chmod go-w "+f.path); err != nil {
		return err
	}
	return f.own(folder, "its folder", "chmod go-w "+filepath.Dir(f.path))
}

// own returns nil for what belongs to the service's user or root, and nobody else may write to.
func (f *file) own(st *unix.Stat_t, what, fix string) error {
	switch guarded.Others(st, f.user) {
	case guarded.Owned:
		return fmt.Errorf("%w: %s belongs to the user with the number %d, and the service runs as %d: its owner could have commands run as the service; give it to the service's user or to root",
			errRefused, what, st.Uid, f.user)
	case guarded.Opened:
		return fmt.Errorf("%w: %s can be written by others (mode %04o), who could have commands run as the service: %s",
			errRefused, what, st.Mode&0o7777, fix)
	}
	return nil
}

// Check reads a file as the service does. It returns the number of hooks that would run, and what is
// wrong with the file, one error for each mistake. For root the service's user is who the folder
// belongs to.
func Check(path string) (hooks int, mistakes []error) {
	f := file{path: path, user: os.Geteuid()}
	var folder unix.Stat_t
	if f.user == 0 && unix.Stat(filepath.Dir(path), &folder) == nil {
		f.user = int(folder.Uid)
	}
	if _, mistakes = f.load(); !f.loaded {
		mistakes = []error{errChanging}
	}
	return len(f.entries), mistakes
}
