package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

// ReadFolder reads the files of a folder that is to become a skill. Links, devices and files with setuid are
// mistakes.
func ReadFolder(dir string) ([]File, error) { return readFolder(dir, -1) }

// readFolder reads a folder. With a user of 0 or more it also refuses what others than that user and root
// own or can write.
func readFolder(dir string, user int) ([]File, error) {
	var c collection
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading %s: %w", p, err)
		}
		if d.IsDir() {
			return c.folder(p, user)
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		return c.file(p, filepath.ToSlash(rel), user)
	})
	files, mistakes := c.done()
	return files, errors.Join(mistakes, err)
}

// folder looks at a folder itself.
func (c *collection) folder(p string, user int) error {
	var st unix.Stat_t
	if err := unix.Lstat(p, &st); err != nil {
		return fmt.Errorf("looking at %s: %w", p, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		c.wrong(p, "it is a symbolic link; put the folder itself there")
		return fs.SkipDir
	}
	c.access(p, &st, user)
	return nil
}

// access refuses what others could have written. With setuid and its like a file is more than its bytes.
func (c *collection) access(p string, st *unix.Stat_t, user int) {
	if st.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 && guarded.Regular(st) {
		c.wrong(p, "it has setuid or setgid: chmod ug-s %s", p)
	}
	if user < 0 {
		return
	}
	switch guarded.Others(st, user) {
	case guarded.Owned:
		c.wrong(p, "it belongs to the user with the number %d, who could change what agents are told: give it to the service's user or to root", st.Uid)
	case guarded.Opened:
		c.wrong(p, "it can be written by others (mode %04o), who could change what agents are told: chmod go-w %s", st.Mode&0o7777, p)
	}
}

// file takes a file.
func (c *collection) file(p, rel string, user int) error {
	f, err := guarded.Open(p)
	if refusal, ok := errors.AsType[guarded.Refusal](err); ok {
		c.wrong(p, "%s", refusal)
		return nil
	}
	if errors.Is(err, unix.ENXIO) { // a socket
		c.wrong(p, "it is not a regular file: remove it")
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening %s: %w", p, err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("looking at %s: %w", p, err)
	}
	if !guarded.Regular(&st) {
		c.wrong(p, "it is not a regular file: remove it")
		return nil
	}
	c.access(p, &st, user)
	content, err := io.ReadAll(io.LimitReader(f, int64(c.room())+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", p, err)
	}
	return c.add(p, File{Path: rel, Exec: st.Mode&0o111 != 0, Content: content})
}
