//go:build unix

package guarded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Read reads a file of the data folder that only the service's user and root may have written, of most bytes
// at most. The error is a Refusal, which says what to do, or one of [Open].
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st, folder unix.Stat_t
	if err := errors.Join(unix.Fstat(int(f.Fd()), &st), unix.Stat(filepath.Dir(path), &folder)); err != nil {
		return nil, err
	}
	switch {
	case !Regular(&st):
		return nil, Refusal("it is not a regular file: remove it")
	case Others(&st, User(&folder)) != None:
		return nil, Refusal("others than the service's user and root own it or can write it: look who has changed it, give it to the service's user, and chmod 600 it")
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = Refusal(fmt.Sprintf("it is larger than %d MiB: no service has written that", most>>20))
	}
	return text, err
}

// User is who the files of a folder should belong to: this process's user, or with a command of root's, that
// of the folder.
func User(folder *unix.Stat_t) int {
	if user := os.Geteuid(); user != 0 {
		return user
	}
	return int(folder.Uid)
}
