package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
	"github.com/svc-gateway/svc/internal/compat"
)

func TestMain(m *testing.M) {
	if mark := os.Getenv(service); mark != "" {
		serve(mark)
	}
	if err := leak(); err != nil {
		fmt.Fprintln(os.Stderr, "leaking a descriptor:", err)
		os.Exit(1)
	}
	if sandboxtest.Again() {
		os.Exit(sandboxtest.Main(m))
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
	os.Exit(sandboxtest.Main(m))
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
		Helper: os.Getenv("SVC_SANDBOX_TEST_HELPER"), Dir: os.Getenv("SVC_SANDBOX_TEST_RUN"),
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
