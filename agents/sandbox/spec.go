package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// Spec is a program to run. Only Args is needed.
type Spec struct {
	// Args are the program and its arguments. The program is looked for in PATH, which is
	// /usr/local/bin:/usr/bin:/bin and the same with sbin unless Env has another.
	Args []string
	// Stdin is what the program can read. Default: nothing.
	Stdin io.Reader
	// Output gets what the program prints, as it prints it, and Stdout of the [Result] stays empty. There is
	// no bound for it; the program is stopped when a Write fails. Default: Stdout is kept.
	Output io.Writer
	// Binds show more of the host.
	Binds []Bind
	// Files are put into the workspace, which is new for every run.
	Files []File
	// Collect returns the files that are in the workspace at the end.
	Collect bool
	// Agent is whose program this is, if it needs nothing of this host, so that it may also run in a remote
	// sandbox. Default: nobody's.
	Agent string
	// Dir is the folder that the program starts in, as it is called in the sandbox. Default: the
	// workspace.
	Dir string
	// Env are variables, each as NAME=value, beside those of the [Config].
	Env []string
	// Timeout is how long the program may run. Default, and most: that of the [Config].
	Timeout time.Duration
	// Limits are the sandbox's own; none can be above that of the [Config].
	Limits Limits
	// Network is what the program reaches, not more than the [Config] allows. Default: that.
	Network Network
	// Database is shown to the program. A remote sandbox gets a copy, without the reader, if the program
	// has the name of [DatabaseVariable] in it. Default: none.
	Database *Database
	// OnEgress is told of each connection that the program asks the proxy for, when it has ended. It may
	// be called concurrently, and not any more when the run has ended.
	OnEgress func(Egress)
}

// Bind shows a file or folder of the host in the sandbox. Its files have the host's owners.
type Bind struct {
	Source   string // absolute path on the host; links in it are followed now
	Target   string // absolute path in the sandbox. Default: Source
	Writable bool
}

// File is a regular file of a workspace.
type File struct {
	Path    string `json:"path"` // relative, with slashes
	Size    int64  `json:"size"`
	Exec    bool   `json:"exec,omitempty"`
	Content []byte `json:"-"`
}

// searchPath is where programs are looked for.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// nobody is the user and group of a program when this process runs as root.
const nobody = 65534

// ErrSpec is in the chain of the error for a Spec that cannot be met, whatever the host.
var ErrSpec = errors.New("the program cannot be run as it is asked for")

func specf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrSpec, fmt.Errorf(format, args...))
}

// request makes what the helper is told.
func (b *Box) request(s Spec) (wire.Request, error) {
	if len(s.Args) == 0 || s.Args[0] == "" {
		return wire.Request{}, specf("args: a program is missing")
	}
	for _, a := range s.Args {
		if strings.ContainsRune(a, 0) {
			return wire.Request{}, specf("args: an argument has a zero byte in it")
		}
	}
	if s.Network != "" && !slices.Contains(order, s.Network) {
		return wire.Request{}, specf("network: %q is unknown: use none, proxy or host", s.Network)
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return wire.Request{}, specf("dir: %q is not an absolute path", s.Dir)
	}
	req := wire.Request{
		Mode: b.mode, Args: s.Args, Dir: s.Dir, System: b.config.System, Hidden: b.config.Hidden,
		Network: wire.Network(stricter(s.Network, b.config.Network)), Collect: s.Collect, UID: nobody, GID: nobody,
		TimeoutMS: max(1, most(s.Timeout, b.config.Timeout).Milliseconds()),
		Limits: wire.Limits{
			Memory:    most(s.Limits.Memory, b.config.Limits.Memory),
			Processes: most(s.Limits.Processes, b.config.Limits.Processes),
			OpenFiles: most(s.Limits.OpenFiles, b.config.Limits.OpenFiles),
			Workspace: most(s.Limits.Workspace, b.config.Limits.Workspace),
			Files:     most(s.Limits.Files, b.config.Limits.Files),
		},
	}
	var err error
	if req.Env, err = b.environment(s.Env); err != nil {
		return req, err
	}
	if err := b.addFiles(&req, s.Files); err != nil {
		return req, err
	}
	return req, b.addBinds(&req, s.Binds)
}

// most is what is asked for, or the limit when that is nothing or more.
func most[T int | int64 | time.Duration](asked, limit T) T {
	if asked <= 0 || asked > limit {
		return limit
	}
	return asked
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment is what a program gets: a few fixed variables, those that the Config lists, and those of
// the Spec; of several with the same name the last.
func (b *Box) environment(extra []string) ([]string, error) {
	home := wire.Workspace
	tmp := "/tmp"
	if b.mode == wire.Minimal {
		home, tmp = "", "" // set with the workspace
	}
	env := []string{"PATH=" + searchPath, "LC_ALL=C.UTF-8", "HOME=" + home, "TMPDIR=" + tmp}
	for _, name := range b.config.Environment {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, e := range extra {
		name, _, ok := strings.Cut(e, "=")
		if !ok || !envName.MatchString(name) || strings.ContainsRune(e, 0) {
			return nil, specf("env: %q is not a variable: write NAME=value", name)
		}
		env = append(env, e)
	}
	last := map[string]int{}
	for i, e := range env {
		name, _, _ := strings.Cut(e, "=")
		last[name] = i
	}
	kept := env[:0]
	for i, e := range env {
		if name, _, _ := strings.Cut(e, "="); last[name] == i {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

func (b *Box) addFiles(req *wire.Request, files []File) error {
	var size int64
	for _, f := range files {
		if !filepath.IsLocal(f.Path) || f.Path == "." || filepath.Clean(f.Path) != f.Path {
			return specf("files: %q is not a relative path within the workspace", f.Path)
		}
		size += int64(len(f.Content))
		req.Files = append(req.Files, wire.File{Path: f.Path, Exec: f.Exec, Content: f.Content})
	}
	if size > req.Limits.Workspace {
		return specf("files: they have %d bytes, and the workspace may hold %d: set sandbox.workspace_size higher", size, req.Limits.Workspace)
	}
	if len(files) > req.Limits.Files {
		return specf("files: there are %d, and the workspace may hold %d: set sandbox.files higher", len(files), req.Limits.Files)
	}
	return nil
}

// addBinds resolves the binds. When this process is root, the program gets the user that the first
// writable one belongs to, so that it can write there.
func (b *Box) addBinds(req *wire.Request, binds []Bind) error {
	chosen := false
	for _, bind := range binds {
		if !filepath.IsAbs(bind.Source) {
			return specf("bind %q: the source is not an absolute path", bind.Source)
		}
		source, err := filepath.EvalSymlinks(bind.Source)
		if err != nil {
			return specf("bind %s: %w", bind.Source, err)
		}
		if b.config.refused(source) {
			return specf("bind %s: it is in a hidden folder, which no sandbox shows", bind.Source)
		}
		target := source
		if bind.Target != "" {
			target = filepath.Clean(bind.Target)
		}
		if err := checkTarget(target, bind); err != nil {
			return err
		}
		info, err := os.Stat(source)
		if err != nil {
			return specf("bind %s: %w", bind.Source, err)
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return specf("bind %s: it is neither a file nor a folder", bind.Source)
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && bind.Writable && !chosen {
			req.UID, req.GID, chosen = int(st.Uid), int(st.Gid), true
		}
		req.Binds = append(req.Binds, wire.Bind{Source: source, Target: target, Writable: bind.Writable})
	}
	return nil
}

func checkTarget(target string, b Bind) error {
	if !filepath.IsAbs(target) {
		return specf("bind %s: the target %q is not an absolute path", b.Source, b.Target)
	}
	for _, own := range []string{"/proc", "/dev", "/sys"} {
		if in(own, target) {
			return specf("bind %s: nothing can be shown at %s, which is the sandbox's own", b.Source, target)
		}
	}
	if target == "/" && b.Writable {
		return specf("bind %s: the root cannot be writable: bind a folder in it", b.Source)
	}
	return nil
}
