// Package sandboxtest runs tests in sandboxes of every mode, as every user, and keeps them from being
// skipped where a sandbox has to work.
//
//	func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }
//
//	func TestX(t *testing.T) {
//		sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) { … })
//	}
//
// It builds the helper svc-sandbox when a test first needs it. What [EveryUser] runs as another user is the
// test alone, in another process: it must not depend on what other tests have left.
//
// Its functions are safe for concurrent use.
package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// Build builds the helper at the path, with build tags.
func Build(path, tags string) error {
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags="+tags, "-o", path, "github.com/svc-gateway/svc/cmd/svc-sandbox")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the helper: %w: %s", err, out)
	}
	return nil
}

// Check ends a test whose sandbox could not be opened. It is skipped only if this host allows no sandbox
// in that mode, as other programs than ours find. An empty mode is any.
func Check(t testing.TB, mode string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case sandbox.IsUnavailable(err) && !allowed(mode):
		t.Skipf("this host allows no sandbox in the mode %q: %v", mode, err)
	default:
		t.Fatal(err)
	}
}

// allowed reports whether this host has what a mode needs.
func allowed(mode string) bool {
	switch mode {
	case "full":
		return unshares("--user", "--map-root-user")
	case "rooted":
		return os.Geteuid() == 0 && unshares()
	case "minimal":
		abi, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
		return e == 0 && abi > 0
	}
	return allowed("full") || allowed("rooted") || allowed("minimal")
}

// unshares reports whether unshare of util-linux makes the namespaces of a sandbox.
func unshares(more ...string) bool {
	args := append(more, "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--mount-proc", "true")
	return exec.Command("unshare", args...).Run() == nil
}
