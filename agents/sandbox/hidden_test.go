package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

// project makes a folder that everybody may write to, with a hidden folder two levels down.
func project(t *testing.T) (root, secret string) {
	t.Helper()
	root, err := os.MkdirTemp("", "project")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	secret = filepath.Join(root, "a", "b", "data", "secret")
	if err := os.MkdirAll(filepath.Dir(secret), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, filepath.Join(root, "a"), filepath.Join(root, "a", "b"), filepath.Dir(secret)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{secret: "SECRET", filepath.Join(root, "a", "open"): "OPEN", filepath.Join(root, "top"): "TOP"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root, secret
}

// The data folder is not seen although a bind contains it, and the rest of the bind is.
func TestBindThatContainsWhatIsHidden(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		for _, mode := range sandboxtest.Modes() {
			for _, writable := range []bool{false, true} {
				t.Run(mode, func(t *testing.T) {
					root, secret := project(t)
					c := sandboxtest.Config(t, "svc-sandbox")
					c.Hidden = []string{filepath.Dir(secret)}
					box := sandboxtest.Open(t, c, mode)
					r := sh(t, box, sandbox.Spec{Binds: []sandbox.Bind{{Source: root, Writable: writable}}, Env: []string{"P=" + root}},
						`cat $P/a/open; cat $P/a/b/data/secret; cat $(find $P -name secret) </dev/null; echo x >$P/a/b/data/secret; echo y >$P/new`)
					if r.Stdout != "OPEN" || strings.Contains(r.Stdout+r.Stderr, "SECRET") {
						t.Errorf("got %+v", r)
					}
					if text, err := os.ReadFile(secret); err != nil || string(text) != "SECRET" {
						t.Errorf("the hidden file has changed: %q, %v", text, err)
					}
					// In minimal mode, a folder on the way to a hidden one takes no new files.
					if _, err := os.Stat(filepath.Join(root, "new")); (err == nil) != (writable && mode != "minimal") {
						t.Errorf("writable %v: got %v", writable, err)
					}
				})
			}
		}
	})
}

// The attack: the hidden folder is covered by its path. A program that may write around it renames a
// folder above it, and the next program finds the data under the new name.
func TestRenamedAncestorRegression(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		for _, mode := range sandboxtest.Modes() {
			t.Run(mode, func(t *testing.T) {
				root, secret := project(t)
				c := sandboxtest.Config(t, "svc-sandbox")
				c.Hidden = []string{filepath.Dir(secret)}
				box := sandboxtest.Open(t, c, mode)
				bind := []sandbox.Bind{{Source: root, Writable: true}}
				env := []string{"P=" + root}
				sh(t, box, sandbox.Spec{Binds: bind, Env: env}, `mv $P/a $P/z; mv $P/a/b $P/a/z; mkdir -p $P/a/b/data`)
				r := sh(t, box, sandbox.Spec{Binds: bind, Env: env}, `grep -rs SECRET $P`)
				if r.Stdout != "" {
					t.Errorf("it was found: %s", r.Stdout)
				}
				if _, err := os.Stat(secret); err != nil {
					t.Errorf("the hidden folder was moved: %v", err)
				}
			})
		}
	})
}

// The attack: the file system with the hidden folder is mounted a second time elsewhere.
func TestSecondMountRegression(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	root, secret := project(t)
	for _, mounted := range []string{filepath.Join(root, "a"), filepath.Dir(secret)} { // around it, and itself
		alias, err := os.MkdirTemp("", "alias")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(alias) })
		if err := syscall.Mount(mounted, alias, "", syscall.MS_BIND, ""); err != nil {
			if os.Getenv(apart) != "" { // where root may mount
				t.Fatal(err)
			}
			t.Skipf("root may not mount here: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(alias, syscall.MNT_DETACH) })
		for _, mode := range []string{"full", "rooted"} {
			t.Run(mode, func(t *testing.T) {
				c := sandboxtest.Config(t, "svc-sandbox")
				c.Hidden = []string{filepath.Dir(secret)}
				box := sandboxtest.Open(t, c, mode)
				r := sh(t, box, sandbox.Spec{Binds: []sandbox.Bind{{Source: filepath.Dir(alias)}}, Env: []string{"A=" + alias}}, `ls -d $A; grep -rs SECRET $A`)
				if r.Stdout != alias+"\n" {
					t.Errorf("got %q", r.Stdout)
				}
			})
		}
	}
}

// The whole host can be shown, read-only, without what the sandbox has of its own and what is hidden.
func TestWholeHost(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		for _, mode := range sandboxtest.Modes() {
			t.Run(mode, func(t *testing.T) {
				c := sandboxtest.Config(t, "svc-sandbox")
				c.Hidden = []string{"/etc/ssl", "/root", "/home"}
				box := sandboxtest.Open(t, c, mode)
				r := sh(t, box, sandbox.Spec{Binds: []sandbox.Bind{{Source: "/"}}},
					`head -c 4 /etc/passwd; echo; ls /etc/ssl /root /home /run /sys /var/run/ 2>/dev/null | grep -v : | grep -v '^$'; touch /var/tmp/x /etc/x /opt/x 2>/dev/null; for d in /var/tmp /etc /opt; do test -e $d/x && echo $d; done; ls -d /var`)
				if r.Stdout != "root\n/var\n" {
					t.Errorf("got %+v", r)
				}
			})
		}
	})
}

// A writable bind, as root: the program has the user that the folder belongs to.
func TestOwnerOfWritableBind(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	for _, mode := range sandboxtest.Modes() {
		for _, uid := range []int{0, 1234} {
			t.Run(mode, func(t *testing.T) {
				dir, err := os.MkdirTemp("", "owned")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(dir) })
				if err := os.Chown(dir, uid, uid); err != nil {
					t.Fatal(err)
				}
				box := sandboxtest.Open(t, sandboxtest.Config(t, "svc-sandbox"), mode)
				r := sh(t, box, sandbox.Spec{Binds: []sandbox.Bind{{Source: dir, Writable: true}}, Dir: dir}, `id -u; touch f; chmod u+s f || chmod 755 f; cat /proc/self/status | grep CapEff`)
				info, err := os.Stat(filepath.Join(dir, "f"))
				if err != nil {
					t.Fatalf("got %+v", r)
				}
				if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || info.Mode()&os.ModeSetuid != 0 {
					t.Errorf("got a file of %d with %s", st.Uid, info.Mode())
				}
				if strings.Contains(r.Stdout, "CapEff") && !strings.Contains(r.Stdout, "0000000000000000") {
					t.Errorf("it has capabilities: %s", r.Stdout)
				}
				if (uid == 0) != strings.Contains(strings.Join(r.Degraded, " "), "root_user") {
					t.Errorf("user %d: got degraded %v", uid, r.Degraded)
				}
			})
		}
	}
}
