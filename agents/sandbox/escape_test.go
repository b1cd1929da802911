package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

// No attempt of the probe gets out, in any mode, as root and as an ordinary user, with and without the
// proxy.
func TestNothingGetsOut(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		for _, mode := range sandboxtest.Modes() {
			for _, network := range []sandbox.Network{sandbox.NoNetwork, sandbox.ProxyNetwork, sandbox.HostNetwork} {
				t.Run(mode+"/"+string(network), func(t *testing.T) {
					c := sandboxtest.Config(t, "svc-sandbox")
					c.Network = network
					box := sandboxtest.Open(t, c, mode)
					if n := len(box.Findings()); n < 30 {
						t.Errorf("got %d attempts, want all", n)
					}
					for _, f := range box.Findings() {
						if !f.Held {
							t.Errorf("%s: %s", f.Attempt, f.Found)
						}
					}
				})
			}
		}
	})
}

// Each layer is there for something: without it, an attempt gets out, and nothing is run.
func TestEachLayerIsNeeded(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		for _, tc := range []struct{ mode, layer, attempt string }{
			{"full", "user", "namespace_user"},
			{"full", "pid", "namespace_pid"},
			{"full", "net", "udp"},
			{"full", "ipc", "namespace_ipc"},
			{"full", "uts", "namespace_uts"},
			{"full", "cgroupns", "namespace_cgroup"},
			{"full", "read_only", "mounts_read_only"},
			{"full", "masks", "secret"},
			{"full", "limits", "limits"},
			{"full", "caps", "privileges"},
			{"full", "no_new", "no_new_privileges"},
			{"full", "landlock", "special_files"},
			{"full", "seccomp", "new_namespaces"},
			{"full", "fds", "descriptors"},
			{"full", "session", "session"},
			{"minimal", "limits", "limits"},
			{"minimal", "no_new", "no_new_privileges"},
			{"minimal", "landlock", "secret"},
			{"minimal", "seccomp", "udp"},
			{"minimal", "session", "session"},
			{"minimal", "seccomp", "attributes"},
		} {
			t.Run(tc.mode+" without "+tc.layer, func(t *testing.T) {
				if os.Getuid() != 0 && (tc.layer == "user" || tc.mode == "minimal" && tc.layer == "no_new") ||
					os.Getuid() == 0 && tc.attempt == "attributes" {
					return // nothing starts without it, or root's command is somebody else
				}
				sandboxtest.Open(t, sandboxtest.Config(t, "svc-sandbox"), tc.mode).Close() // or the host does not allow it
				defer sandbox.Weaken(tc.layer)()
				box, err := sandbox.OpenMode(t.Context(), sandboxtest.Config(t, "weak"), tc.mode)
				if err == nil {
					box.Close()
					t.Fatal("nothing got out")
				}
				if !strings.Contains(err.Error(), tc.attempt+" (") {
					t.Errorf("got %v, want %s to get out", err, tc.attempt)
				}
			})
		}
	}, "weak")
}
