package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
	"github.com/svc-gateway/svc/internal/settings"
)

// Config says what every sandbox of a [Box] has. The zero value of a field is its default.
type Config struct {
	// Helper is the absolute path of svc-sandbox. Default: beside the running program.
	Helper string
	// Dir is a folder of this process's own for sockets and, where the host allows no mounts, for
	// workspaces. Default: a folder below [os.TempDir].
	Dir string
	// Hidden are paths of the host that no bind shows, also when it contains them: secrets.
	Hidden []string
	// Allowed are paths within hidden ones that may be bound nevertheless.
	Allowed []string
	// System are the files and folders of the host that programs see, read-only, at their own places.
	// Default: that of the setting sandbox.system.
	System []string
	// Environment are the names of variables that programs get from this process. Default: none.
	Environment []string
	// Limits bound one sandbox.
	Limits Limits
	// Timeout is how long a program may run. Default: 60s.
	Timeout time.Duration
	// Network is what programs reach unless their Spec asks for less. Default: [NoNetwork].
	Network Network
	// Full refuses hosts on which only the minimal mode works.
	Full bool
	// Reach are networks that are not public and that the proxy may connect to nevertheless. It never
	// connects to this host. Default: none.
	Reach []netip.Prefix
}

// Limits bound one sandbox. The zero value of a field is its default.
type Limits struct {
	Memory    int64 // bytes of all processes together. Default: 512 MiB
	Processes int   // processes and threads. Default: 128
	OpenFiles int   // descriptors of one process. Default: 256
	Workspace int64 // bytes of all files in the workspace and /tmp. Default: 64 MiB
	Files     int   // files in the workspace and /tmp. Default: 4096
	Output    int   // bytes of stdout, and of stderr, that are kept. Default: 1 MiB
}

func (l Limits) orDefault() Limits {
	set(&l.Memory, 512<<20)
	set(&l.Processes, 128)
	set(&l.OpenFiles, 256)
	set(&l.Workspace, 64<<20)
	set(&l.Files, 4096)
	set(&l.Output, 1<<20)
	return l
}

func set[T int | int64 | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// FromSettings gives the configuration that the settings describe. The data folder is hidden but for
// its workspace; the project root is not hidden, wherever it is.
func FromSettings(s settings.Settings, home settings.Home) Config {
	b := s.Sandbox
	c := Config{
		Helper: b.Helper,
		Hidden: append([]string{home.Dir()}, b.Hidden...), Allowed: []string{home.Workspace()},
		System: b.System, Environment: b.Env, Timeout: s.Runtime.Timeout, Network: Network(b.Network),
		Full: b.Mode == settings.SandboxFull,
		Limits: Limits{
			Memory: b.Memory, Processes: b.Processes, OpenFiles: b.OpenFiles,
			Workspace: b.WorkspaceSize, Files: b.Files, Output: int(b.Output),
		},
	}
	if s.Runtime.ProjectRoot != "" {
		c.Allowed = append(c.Allowed, s.Runtime.ProjectRoot)
	}
	for _, r := range b.Reach {
		c.Reach = append(c.Reach, netip.MustParsePrefix(r)) // checked with the settings
	}
	if b.Netns == 1 {
		c.Network = NoNetwork
	}
	return c
}

// Network says what of the network a program reaches.
type Network string

// The networks, the strictest first.
const (
	// NoNetwork is a network namespace with nothing in it.
	NoNetwork = Network(wire.NoNetwork)
	// ProxyNetwork is a network namespace with a way to a proxy of this process, which connects to
	// public addresses only.
	ProxyNetwork = Network(wire.Proxy)
	// HostNetwork is the host's network.
	HostNetwork = Network(wire.Host)
)

var order = []Network{NoNetwork, ProxyNetwork, HostNetwork}

// stricter returns the stricter of two networks; an empty one does not count.
func stricter(a, b Network) Network {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}

// complete sets defaults and resolves paths.
func (c Config) complete() (Config, error) {
	if c.Helper == "" {
		exe, err := os.Executable()
		if err != nil {
			return c, fmt.Errorf("looking for the helper: %w", err)
		}
		c.Helper = filepath.Join(filepath.Dir(exe), "svc-sandbox")
	}
	if info, err := os.Stat(c.Helper); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return c, &Unavailable{fmt.Sprintf("there is no program %s: install svc-sandbox beside the service, or set sandbox.helper to its path", c.Helper)}
	}
	if c.Dir == "" {
		name := fmt.Sprintf("svc-sandbox-%d", os.Getuid())
		c.Dir = filepath.Join(os.TempDir(), name)
		if len(c.Dir) > longestDir {
			c.Dir = filepath.Join("/tmp", name)
		}
	}
	if len(c.Dir) > longestDir {
		return c, fmt.Errorf("the folder %s has a name of more than %d characters, which the sockets in it allow", c.Dir, longestDir)
	}
	if err := ownFolder(c.Dir); err != nil {
		return c, fmt.Errorf("making the folder for sockets and workspaces: %w", err)
	}
	if c.System == nil {
		c.System = strings.Split(settings.SandboxSystem, ",")
	}
	c.Limits = c.Limits.orDefault()
	set(&c.Timeout, time.Minute)
	if c.Network == "" {
		c.Network = NoNetwork
	}
	if !slices.Contains(order, c.Network) {
		return c, fmt.Errorf("network %q is unknown: use none, proxy or host", c.Network)
	}
	var errs []error
	for _, list := range []*[]string{&c.Hidden, &c.Allowed} {
		resolved := make([]string, 0, 2*len(*list))
		for _, p := range *list {
			if !filepath.IsAbs(p) || filepath.Clean(p) == "/" {
				errs = append(errs, fmt.Errorf("%q cannot be hidden or allowed: name an absolute path other than /", p))
				continue
			}
			resolved = append(resolved, filepath.Clean(p))
			if r, err := filepath.EvalSymlinks(p); err == nil && r != filepath.Clean(p) {
				resolved = append(resolved, r)
			}
		}
		*list = resolved
	}
	return c, errors.Join(errs...)
}

// longestDir is the longest name of a folder in which sockets can have the names that they get: an
// address has 108 bytes (unix(7)).
const longestDir = 50

// ownFolder makes a folder that nobody else can change things in. One that somebody else has made, in a
// folder that everybody may write to, is refused.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can change %s: remove it", dir)
	}
	return nil
}

// refused reports whether a path of the host must not be bound: the innermost folder that is hidden or
// allowed decides, and of the same one that it is allowed.
func (c Config) refused(path string) bool {
	return innermost(c.Hidden, path) > innermost(c.Allowed, path)
}

// innermost is the length of the longest of the folders that path is in, -1 when it is in none.
func innermost(dirs []string, path string) int {
	longest := -1
	for _, dir := range dirs {
		if in(dir, path) {
			longest = max(longest, len(dir))
		}
	}
	return longest
}

func in(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
