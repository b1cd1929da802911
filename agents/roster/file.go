package roster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

// maxBytes is how large an AGENT.md may be: all of it goes into every prompt of the agent.
const maxBytes = 64 << 10

// load reads a file of the operator's. The error is a [Mistake] when it is not there, too large, or could
// have been written by others, who could then tell the agent what to do.
func load(file string) ([]byte, error) {
	wrong := func(format string, args ...any) error {
		return &Mistake{File: file, Message: fmt.Sprintf(format, args...)}
	}
	r, err := guarded.Open(file)
	if refusal, ok := errors.AsType[guarded.Refusal](err); ok {
		return nil, wrong("%s", refusal)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrong("there is no such file: write it, or remove the folder%s", nearly(filepath.Dir(file)))
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", file, err)
	}
	defer r.Close()
	var st, folder, above unix.Stat_t
	dir := filepath.Dir(file)
	if err := errors.Join(unix.Fstat(int(r.Fd()), &st), unix.Stat(dir, &folder), unix.Stat(filepath.Dir(dir), &above)); err != nil {
		return nil, fmt.Errorf("looking at %s: %w", file, err)
	}
	if !guarded.Regular(&st) {
		return nil, wrong("it is not a regular file")
	}
	user := os.Geteuid()
	if user == 0 { // a command of root's, for the service's user
		user = int(above.Uid)
	}
	for _, part := range []struct {
		st   *unix.Stat_t
		what string
		path string
	}{{&st, "it", file}, {&folder, "its folder", dir}, {&above, "the folder above it", filepath.Dir(dir)}} {
		switch guarded.Others(part.st, user) {
		case guarded.Owned:
			return nil, wrong("%s belongs to the user with the number %d, who could tell the agent what to do: give it to the service's user or to root", part.what, part.st.Uid)
		case guarded.Opened:
			return nil, wrong("%s can be written by others (mode %04o), who could tell the agent what to do: chmod go-w %s", part.what, part.st.Mode&0o7777, part.path)
		}
	}
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return text, nil
}

// nearly names a file that was probably meant to be the AGENT.md.
func nearly(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if e.Name() != FileName && filepath.Ext(e.Name()) != "" && len(e.Name()) == len(FileName) {
			return fmt.Sprintf("; %s is there: rename it", e.Name())
		}
	}
	return ""
}
