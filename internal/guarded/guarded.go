//go:build unix

// Package guarded opens and writes files that say what the service does, such as the commands of hooks, the
// instructions of agents and what people have approved. Whoever can write such a file speaks with the service's
// voice.
//
//	f, err := guarded.Open(path)
//	var st unix.Stat_t
//	err = unix.Fstat(int(f.Fd()), &st)
//	who := guarded.Others(&st, user)
//	content, err := guarded.Read(path, most)
//	err = guarded.Write(path, content)
//
// It keeps no state and is safe for concurrent use.
package guarded

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Refusal says what is wrong with a file, and what to do.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Open opens a file to be read. It neither follows a link at the end of the path nor waits for who writes to
// a pipe. The error is a Refusal for a link and for a file that may not be read, and matches
// [fs.ErrNotExist] where there is none.
func Open(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, Refusal("it is a symbolic link; put the file itself there")
	case errors.Is(err, fs.ErrPermission):
		return nil, Refusal("the service may not read it; give it to the service's user, with mode 0600")
	case err != nil:
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Access says how others than a user and root could have written a file or a folder.
type Access uint8

// The ways in which they could.
const (
	None   Access = iota // they could not
	Owned                // it is another user's
	Opened               // its mode lets others write
)

// Others says how others than a user and root could have written what st is of.
func Others(st *unix.Stat_t, user int) Access {
	switch {
	case st.Uid != 0 && int(st.Uid) != user:
		return Owned
	case st.Mode&0o022 != 0:
		return Opened
	}
	return None
}

// Regular reports whether st is of a regular file.
func Regular(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }
