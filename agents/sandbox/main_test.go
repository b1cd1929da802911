package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
	"github.com/svc-gateway/svc/internal/compat"
)

// built is the folder with the helper, the weak one and this program, for other users too.
const built = "SVC_SANDBOX_TEST_DIR"

func TestMain(m *testing.M) {
	if mark := os.Getenv(service); mark != "" {
		serve(mark)
	}
	if err := leak(); err != nil {
		fmt.Fprintln(os.Stderr, "leaking a descriptor:", err)
		os.Exit(1)
	}
	if os.Getenv(built) != "" { // as another user: it is all there
		os.Exit(m.Run())
	}
	if os.Getuid() == 0 && os.Getenv(apart) == "" {
		if code, ok := runApart(); ok {
			os.Exit(code)
		}
	} else if os.Getenv(apart) != "" {
		if err := mountProc(); err != nil {
			fmt.Fprintln(os.Stderr, "mounting /proc:", err)
			os.Exit(1)
		}
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "sandbox-test-")
		if err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			err = errors.Join(os.Chmod(dir, 0o755), build(dir), os.Setenv(built, dir))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// leak opens a descriptor that every program inherits, as a careless parent of the service would. The
// number is none that a program gets from its parent on purpose.
func leak() error {
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	_, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 100)
	return err
}

// service has this program stand for the service, and run sleep with the mark that it holds.
const service = "SVC_SANDBOX_TEST_SERVICE"

func serve(mark string) {
	box, err := sandbox.OpenMode(context.Background(), sandbox.Config{
		Helper: filepath.Join(os.Getenv(built), "svc-sandbox"), Dir: os.Getenv("SVC_SANDBOX_TEST_RUN"),
	}, os.Getenv("SVC_SANDBOX_TEST_MODE"))
	if err == nil {
		_, err = box.Run(context.Background(), sandbox.Spec{Args: []string{"sh", "-c", "setsid sleep " + mark + " & exec sleep " + mark}})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// apart says that this program is in a PID namespace of its own.
const apart = "SVC_SANDBOX_TEST_APART"

// runApart runs the tests again in a PID namespace: a helper that leaves out a layer, and a mistake in
// one that does not, then kill nothing else of root's on this host. It is not ok where root may not make
// one.
func runApart() (code int, ok bool) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), apart+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // whose end would be the signal
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	_ = cmd.Wait() // the code says it
	return cmd.ProcessState.ExitCode(), true
}

func mountProc() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Mount("proc", "/proc", "proc", 0, "")
}

// build builds what the tests start.
func build(dir string) error {
	for name, tags := range map[string]string{"svc-sandbox": "", "weak": "svc_weak_sandbox"} {
		if err := sandboxtest.Build(filepath.Join(dir, name), tags); err != nil {
			return err
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(filepath.Join(dir, "test"), os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// everyUser runs a test as this user, and when that is root also as nobody.
func everyUser(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getuid() != 0 {
		test(t)
		return
	}
	t.Run("root", test)
	t.Run("nobody", func(t *testing.T) {
		name, _, _ := strings.Cut(t.Name(), "/")
		cmd := exec.Command(filepath.Join(os.Getenv(built), "test"), "-test.run=^"+name+"$", "-test.v")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("as nobody: %v\n%s", err, out)
		} else if strings.Contains(string(out), "--- SKIP") {
			t.Logf("as nobody:\n%s", out)
		}
	})
}

// config is that of a helper in the folder of the tests.
func config(t *testing.T, helper string) sandbox.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return sandbox.Config{Helper: filepath.Join(os.Getenv(built), helper), Dir: dir}
}

// open opens a box in a mode, or skips the test where the host does not allow it.
func open(t *testing.T, c sandbox.Config, mode string) *sandbox.Box {
	t.Helper()
	box, err := sandbox.OpenMode(t.Context(), c, mode)
	if err != nil && strings.Contains(err.Error(), "got out") {
		t.Fatal(err)
	}
	sandboxtest.Check(t, mode, err)
	t.Cleanup(box.Close)
	return box
}

// modes are those that are tested as this user.
func modes() []string {
	if os.Getuid() == 0 {
		return []string{"full", "rooted", "minimal"}
	}
	return []string{"full", "minimal"}
}

// everyMode runs a test in every mode as every user.
func everyMode(t *testing.T, c func(*sandbox.Config), test func(t *testing.T, box *sandbox.Box)) {
	t.Helper()
	everyUser(t, func(t *testing.T) {
		for _, mode := range modes() {
			t.Run(mode, func(t *testing.T) {
				conf := config(t, "svc-sandbox")
				if c != nil {
					c(&conf)
				}
				test(t, open(t, conf, mode))
			})
		}
	})
}

// sh runs a script.
func sh(t *testing.T, box *sandbox.Box, spec sandbox.Spec, script string) sandbox.Result {
	t.Helper()
	spec.Args = []string{"bash", "-c", script}
	r, err := box.Run(context.WithoutCancel(t.Context()), spec)
	if err != nil {
		t.Fatalf("running %q: %v", script, err)
	}
	return r
}

func TestVersionIsThatOfTheHarness(t *testing.T) {
	if sandbox.WireVersion != compat.Version {
		t.Errorf("the helper speaks %s, the harness %s", sandbox.WireVersion, compat.Version)
	}
}
