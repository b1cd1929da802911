package sandboxtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// built is the folder with the helpers and the test program, for other users too. It is set when the
// program runs as another user: all is there then.
const built = "SVC_SANDBOX_TEST_DIR"

// Again reports whether this program was started by [EveryUser].
func Again() bool { return os.Getenv(built) != "" }

// Main runs the tests of a package that uses [Helper], and removes what that has built.
func Main(m *testing.M) (code int) {
	if Again() {
		return m.Run()
	}
	defer func() {
		if made != "" {
			_ = os.RemoveAll(made)
		}
	}()
	return m.Run()
}

// programs are the helpers that can be built, with their build tags.
var programs = map[string]string{"svc-sandbox": "", "weak": "svc_weak_sandbox"}

var made string // the folder, once it is there

// folder builds the helpers and copies this program beside them, once.
var folder = sync.OnceValues(func() (string, error) {
	if Again() {
		return os.Getenv(built), nil
	}
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		return "", err
	}
	made = dir
	return dir, errors.Join(os.Chmod(dir, 0o755), copySelf(filepath.Join(dir, "test")))
})

func copySelf(path string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// build builds a helper in the folder, once.
var build = func() func(name string) (string, error) {
	var mu sync.Mutex
	return func(name string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		tags, ok := programs[name]
		if !ok {
			return "", fmt.Errorf("there is no helper %q", name)
		}
		dir, err := folder()
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return path, Build(path, tags)
	}
}()

// Program is the path of a copy of this program that every user can run.
func Program(t testing.TB) string {
	t.Helper()
	dir, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "test")
}

// Helper is the path of a helper, which is built at its first use: svc-sandbox, or weak, which can be told
// to leave out layers.
func Helper(t testing.TB, name string) string {
	t.Helper()
	path, err := build(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// EveryUser runs a test as this user, and when that is root also as nobody, in a process of its own. The
// helpers that the test needs besides svc-sandbox are named, because nobody cannot build them.
func EveryUser(t *testing.T, test func(t *testing.T), helpers ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		test(t)
		return
	}
	for _, name := range append(helpers, "svc-sandbox") {
		Helper(t, name)
	}
	t.Run("root", test)
	t.Run("nobody", func(t *testing.T) {
		program := Program(t)
		name, _, _ := strings.Cut(t.Name(), "/")
		cmd := exec.Command(program, "-test.run=^"+name+"$", "-test.v")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), built+"="+filepath.Dir(program))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("as nobody: %v\n%s", err, out)
		} else if strings.Contains(string(out), "--- SKIP") {
			t.Logf("as nobody:\n%s", out)
		}
	})
}

// Modes are those that are tested as this user.
func Modes() []string {
	if os.Getuid() == 0 {
		return []string{"full", "rooted", "minimal"}
	}
	return []string{"full", "minimal"}
}

// EveryMode runs a test in every mode as every user. change, which may be nil, changes the configuration
// of the box.
func EveryMode(t *testing.T, change func(*sandbox.Config), test func(t *testing.T, box *sandbox.Box)) {
	t.Helper()
	EveryUser(t, func(t *testing.T) {
		for _, mode := range Modes() {
			t.Run(mode, func(t *testing.T) {
				c := Config(t, "svc-sandbox")
				if change != nil {
					change(&c)
				}
				test(t, Open(t, c, mode))
			})
		}
	})
}

// Config is that of a helper in the folder of the tests.
func Config(t testing.TB, helper string) sandbox.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return sandbox.Config{Helper: Helper(t, helper), Dir: dir}
}

// Open opens a box in a mode, or skips the test where the host does not allow it. An empty mode is the
// strongest that it does.
func Open(t testing.TB, c sandbox.Config, mode string) *sandbox.Box {
	t.Helper()
	var box *sandbox.Box
	var err error
	if mode == "" {
		box, err = sandbox.Open(t.Context(), c)
	} else {
		box, err = sandbox.OpenMode(t.Context(), c, mode)
	}
	if err != nil && strings.Contains(err.Error(), "got out") {
		t.Fatal(err)
	}
	Check(t, mode, err)
	t.Cleanup(box.Close)
	return box
}
