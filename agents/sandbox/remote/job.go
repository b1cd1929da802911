package remote

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// job is what is sent for one run: a tar archive with a script, the workspace and the database.
type job struct {
	run      string
	args     []string
	script   string
	files    []sandbox.File
	database string // its path on this host; empty: the program needs none
	timeout  time.Duration
	offline  bool
	keep     int // of each output
	collect  bool
}

// The paths at the provider, all below /tmp, which every image has.
func (j job) dir() string { return "/tmp/svc-" + j.run }
func (j job) in() string  { return j.dir() + ".in" }
func (j job) out() string { return j.dir() + ".out" }

// databaseName is the name of the database in the archive.
const databaseName = "analytics.duckdb"

// plan looks at what is asked for before anything is asked of the provider.
func (b *Box) plan(s sandbox.Spec) (job, error) {
	j := job{run: newID(), args: s.Args, files: s.Files, timeout: b.config.Timeout, keep: b.config.Limits.Output, collect: s.Collect}
	switch {
	case len(s.Args) == 0 || s.Args[0] == "":
		return j, specf("args: a program is missing")
	case strings.ContainsRune(strings.Join(s.Args, ""), 0):
		return j, specf("args: an argument has a zero byte in it")
	case len(s.Binds) > 0:
		return j, specf("bind %s: a remote sandbox shows nothing of this host", s.Binds[0].Source)
	case s.Dir != "":
		return j, specf("dir: a program in a remote sandbox starts in its workspace")
	case s.Stdin != nil:
		return j, specf("stdin: a program in a remote sandbox reads nothing")
	}
	if s.Timeout > 0 && s.Timeout < j.timeout {
		j.timeout = s.Timeout
	}
	if n := s.Limits.Output; n > 0 && n < j.keep {
		j.keep = n
	}
	j.offline = s.Network == sandbox.NoNetwork || b.config.Network == sandbox.NoNetwork
	for _, e := range s.Env {
		if !variable.MatchString(e) || strings.ContainsRune(e, 0) {
			name, _, _ := strings.Cut(e, "=")
			return j, specf("env: %q is not a variable: write NAME=value", name)
		}
	}
	env := s.Env
	if s.Database != nil && names(s, sandbox.DatabaseVariable) {
		j.database = s.Database.File
		env = append(env[:len(env):len(env)], sandbox.DatabaseVariable+"="+j.dir()+"/"+databaseName)
	}
	j.script = script(j, env, b.config.Limits.Workspace)
	return j, b.fits(j)
}

// names reports whether a word stands in a program or its files. A database is large, and goes only with programs that
// ask for it.
func names(s sandbox.Spec, word string) bool {
	return strings.Contains(strings.Join(s.Args, "\n"), word) ||
		slices.ContainsFunc(s.Files, func(f sandbox.File) bool { return bytes.Contains(f.Content, []byte(word)) })
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

func specf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", sandbox.ErrSpec, fmt.Errorf(format, args...))
}

// fits checks the names and sizes of what would be sent.
func (b *Box) fits(j job) error {
	size := int64(len(j.script))
	for _, f := range j.files {
		if !filepath.IsLocal(f.Path) || f.Path == "." || filepath.Clean(f.Path) != f.Path {
			return specf("files: %q is not a relative path within the workspace", f.Path)
		}
		size += int64(len(f.Content))
	}
	if len(j.files) > b.config.Limits.Files {
		return specf("files: there are %d, and the workspace may hold %d: set sandbox.files higher", len(j.files), b.config.Limits.Files)
	}
	if j.database != "" {
		info, err := os.Stat(j.database)
		switch {
		case err != nil:
			return specf("database: %w", err)
		case !info.Mode().IsRegular():
			return specf("database: %s is not a regular file", j.database)
		}
		size += info.Size()
	}
	if size > b.config.Upload {
		return specf("the files for the sandbox of %s have %d bytes, and %d may be sent: set sandbox.upload_size higher, or run this in the local sandbox", b.config.Provider.Name(), size, b.config.Upload)
	}
	return nil
}

// archive writes what is sent.
func (j job) archive(w io.Writer) error {
	t := tar.NewWriter(w)
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "workspace/", Mode: 0o755}); err != nil {
		return err
	}
	if err := put(t, "run.sh", 0o644, int64(len(j.script)), strings.NewReader(j.script)); err != nil {
		return err
	}
	for _, f := range j.files {
		mode := int64(0o644)
		if f.Exec {
			mode = 0o755
		}
		if err := put(t, "workspace/"+f.Path, mode, int64(len(f.Content)), strings.NewReader(string(f.Content))); err != nil {
			return err
		}
	}
	if j.database != "" {
		if err := putFile(t, databaseName, j.database); err != nil {
			return err
		}
	}
	return t.Close()
}

func put(t *tar.Writer, name string, mode, size int64, r io.Reader) error {
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: size}); err != nil {
		return err
	}
	n, err := io.Copy(t, io.LimitReader(r, size))
	if err == nil && n != size {
		err = errors.New("it has become shorter")
	}
	return err
}

func putFile(t *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		err = put(t, name, 0o444, info.Size(), f)
	}
	if err != nil {
		return fmt.Errorf("reading the %s: %w", name, err)
	}
	return nil
}
