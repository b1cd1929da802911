package settings

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
)

// What sandbox.mode knows.
const (
	SandboxAuto = "auto"
	SandboxFull = "full"
)

// What sandbox.network knows.
const (
	SandboxProxy = "proxy"
	SandboxHost  = "host"
)

// Sandbox says what generated code, and commands that nobody has vouched for, run in.
type Sandbox struct {
	// Helper is the absolute path of svc-sandbox. Default: beside the service.
	Helper string
	// Mode is auto (the strongest that the host allows) or full (nothing less than namespaces).
	// Default: auto.
	Mode string
	// Netns is 1 for a network namespace with nothing in it. Default: 0.
	Netns int
	// Network is proxy (a network namespace with a way to a proxy of the service) or host. Default:
	// proxy.
	Network string
	// Reach are networks that are not public and that the proxy may connect to. Default: none.
	Reach []string
	// Memory is what all processes of one sandbox may take, in bytes. Default: 512 MiB.
	Memory int64
	// Processes is how many processes and threads one sandbox may have. Default: 128.
	Processes int
	// OpenFiles is how many files one process may have open. Default: 256.
	OpenFiles int
	// WorkspaceSize is what all files of a workspace and its /tmp may take, in bytes. Default: 64 MiB.
	WorkspaceSize int64
	// Files is how many files these may be. Default: 4096.
	Files int
	// Output is how much of stdout, and of stderr, is kept, in bytes. Default: 1 MiB.
	Output int64
	// System are the paths of the host that programs see, read-only. Default: programs and libraries.
	System []string
	// Env are the names of variables of the service that programs get. Default: none.
	Env []string
	// Hidden are the paths of the host that no sandbox shows, beside the data folder.
	Hidden []string
	// Provider is where programs of agents run: local, or a remote one. Default: local.
	Provider string
	// Agents are other choices, as agent=provider. Read them with [Sandbox.For]. Default: none.
	Agents []string
	// UploadSize is how much is sent to one remote sandbox, in bytes. Default: 64 MiB.
	UploadSize int64
	// What the remote providers need.
	Daytona Daytona
	Runloop Runloop
	Modal   Modal
}

// SandboxSystem is the default of sandbox.system.
const SandboxSystem = "/usr,/bin,/sbin,/lib,/lib32,/lib64,/libx32,/etc/alternatives,/etc/ld.so.cache,/etc/ld.so.conf," +
	"/etc/ld.so.conf.d,/etc/localtime,/etc/mime.types,/etc/protocols,/etc/services,/etc/ssl/certs," +
	"/etc/pki/ca-trust,/etc/pki/tls/certs"

const defaultHidden = "/root,/home,/run,/var/run,/var/spool,/var/backups,/var/lib/docker,/var/lib/containerd,/var/lib/kubelet," +
	"/etc/shadow,/etc/shadow-,/etc/gshadow,/etc/gshadow-,/etc/sudoers,/etc/sudoers.d,/etc/ssh,/etc/ssl/private," +
	"/etc/svc,/etc/kubernetes"

func checkSandboxMode(v string) error {
	return oneOf(v, "mode of the sandbox", SandboxAuto, SandboxFull)
}

func checkSandboxNetwork(v string) error {
	return oneOf(v, "network of the sandbox", SandboxProxy, SandboxHost)
}

// checkPaths refuses what is not a list of absolute paths below the root.
func checkPaths(paths []string) error {
	for _, p := range paths {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			return fmt.Errorf("%q is not an absolute path without dots and double slashes", p)
		}
		if p == "/" {
			return errors.New("/ is the whole file system: name folders in it")
		}
	}
	return nil
}

// checkPrefixes refuses what is not a list of networks.
func checkPrefixes(networks []string) error {
	for _, n := range networks {
		p, err := netip.ParsePrefix(n)
		if err != nil || p != p.Masked() {
			return fmt.Errorf("%q is not a network: write its first address and the length of its prefix, as in 10.1.0.0/16", n)
		}
	}
	return nil
}

func checkEnvNames(names []string) error {
	for _, n := range names {
		if err := checkEnvName(n); err != nil {
			return errors.New("each item is the name of an environment variable, without a value")
		}
	}
	return nil
}

// check looks at what concerns the whole section.
func (s Sandbox) check(a Auth) error {
	if s.Network == SandboxHost && a.Has(ModeNone) {
		return About(errors.New("sandbox.network: host lets generated code reach this service, where auth.mode none makes it an admin: take none out of auth.mode, or use proxy"), "sandbox.network")
	}
	if s.Network == SandboxHost && s.Netns == 1 {
		return About(errors.New("sandbox.netns: 1 is a network with nothing in it, and sandbox.network is host: set one of them only"), "sandbox.netns")
	}
	return s.checkRemote()
}
