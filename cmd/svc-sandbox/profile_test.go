package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

var update = flag.Bool("update", false, "write deploy/seccomp.json")

// profilePath is the profile of system calls for containers.
const profilePath = "../../deploy/seccomp.json"

// ociProfile is a profile as container engines read it: the field linux.seccomp of the OCI runtime
// specification, in which engines ignore the calls that a processor does not have.
type ociProfile struct {
	DefaultAction   string    `json:"defaultAction"`
	DefaultErrnoRet int       `json:"defaultErrnoRet"`
	Architectures   []string  `json:"architectures"`
	Syscalls        []ociRule `json:"syscalls"`
}

type ociRule struct {
	Names    []string `json:"names"`
	Action   string   `json:"action"`
	ErrnoRet int      `json:"errnoRet,omitempty"`
	Args     []ociArg `json:"args,omitempty"`
}

type ociArg struct {
	Index uint32 `json:"index"`
	Value uint64 `json:"value"`
	Op    string `json:"op"`
}

// ofHelper are the calls that the helper makes to build a sandbox, and the service beside those that
// programs in a sandbox may make. The container's own user has no capability for most of them but in the
// user namespace that it makes.
var ofHelper = []string{
	"unshare", "setns", "mount", "umount2", "pivot_root", "mount_setattr", "open_tree", "move_mount", "sethostname",
	"openat2", "syncfs", "sync", "mlock2", "mbind", "set_mempolicy",
}

// families are the address families that the service and its commands use.
var families = []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// numbers are the system calls of a processor by their names.
func numbers(t *testing.T, processor string) map[string]uintptr {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+processor+".go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uintptr{}
	for _, m := range regexp.MustCompile(`(?m)^\tSYS_(\w+)\s+= (\d+)$`).FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		all[strings.ToLower(string(m[1]))] = uintptr(n)
	}
	return all
}

// profile makes the profile of what programs in a sandbox may call and of what the helper calls.
func profile(t *testing.T) ociProfile {
	t.Helper()
	known := numbers(t, runtime.GOARCH)
	used := rules(sandboxed{sockets: true, numbers: true, signals: true, others: true})
	var names []string
	for name, n := range known {
		if _, ok := used[n]; ok && name != "socket" && name != "personality" {
			names = append(names, name)
		}
	}
	names = append(names, ofHelper...)
	slices.Sort(names)
	p := ociProfile{
		DefaultAction: "SCMP_ACT_ERRNO", DefaultErrnoRet: int(unix.EPERM),
		Architectures: []string{"SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"},
		Syscalls: []ociRule{
			{Names: slices.Compact(names), Action: "SCMP_ACT_ALLOW"},
			// The C library falls back to clone, whose flags the sandbox's own filter sees.
			{Names: []string{"clone3"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: int(unix.ENOSYS)},
		},
	}
	for _, f := range families {
		p.Syscalls = append(p.Syscalls, ociRule{Names: []string{"socket"}, Action: "SCMP_ACT_ALLOW", Args: []ociArg{{0, f, "SCMP_CMP_EQ"}}})
	}
	for _, v := range []uint64{0, 0xffffffff} {
		p.Syscalls = append(p.Syscalls, ociRule{Names: []string{"personality"}, Action: "SCMP_ACT_ALLOW", Args: []ociArg{{0, v, "SCMP_CMP_EQ"}}})
	}
	return p
}

func readProfile(t *testing.T) (p ociProfile) {
	t.Helper()
	text, err := os.ReadFile(profilePath)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		t.Fatalf("reading %s: %v", profilePath, err)
	}
	return p
}

// The profile is the one that the filter and the helper ask for. It is made on x86-64, whose older calls
// arm64 does not have.
func TestContainerProfile(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the profile is made on x86-64")
	}
	want, err := json.MarshalIndent(profile(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(profilePath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(profilePath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the filter asks for: run go test ./cmd/svc-sandbox -update", profilePath)
	}
	p := readProfile(t)
	if p.DefaultAction != "SCMP_ACT_ERRNO" {
		t.Errorf("what is not named has the action %s", p.DefaultAction)
	}
	allowed := map[string]bool{}
	for _, r := range p.Syscalls {
		for _, n := range r.Names {
			allowed[n] = allowed[n] || r.Action == "SCMP_ACT_ALLOW"
		}
	}
	for _, n := range []string{"unshare", "mount", "umount2", "pivot_root", "mount_setattr", "open_tree", "move_mount", "clone", "sethostname", "seccomp", "landlock_restrict_self", "prctl", "socket", "setresuid"} {
		if !allowed[n] {
			t.Errorf("%s is not allowed, which the sandbox needs", n)
		}
	}
	for _, n := range []string{"clone3", "ptrace", "bpf", "keyctl", "add_key", "io_uring_setup", "init_module", "kexec_load", "reboot", "process_vm_readv", "userfaultfd", "perf_event_open", "open_by_handle_at", "fsopen", "swapon", "settimeofday", "iopl"} {
		if allowed[n] {
			t.Errorf("%s is allowed", n)
		}
	}
	for _, processor := range []string{"amd64", "arm64"} {
		known := numbers(t, processor)
		for _, n := range ofHelper {
			if _, ok := known[n]; !ok {
				t.Errorf("%s has no call %s", processor, n)
			}
		}
	}
}

// asFilter makes of a profile what a container engine makes of it.
func asFilter(t *testing.T, p ociProfile) []byte {
	t.Helper()
	known := numbers(t, runtime.GOARCH)
	verdict := func(r ociRule) bpf.RetConstant {
		if r.Action == "SCMP_ACT_ALLOW" {
			return allow
		}
		return refuse(unix.Errno(r.ErrnoRet))
	}
	code := []bpf.Instruction{}
	for _, r := range p.Syscalls {
		for _, n := range r.Names {
			nr, ok := known[n]
			switch {
			case !ok:
			case len(r.Args) == 0:
				code = append(code, bpf.LoadAbsolute{Off: offNumber, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: 1}, verdict(r))
			default:
				code = append(code, bpf.LoadAbsolute{Off: offNumber, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: 3},
					load(r.Args[0].Index), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(r.Args[0].Value), SkipTrue: 1}, verdict(r))
			}
		}
	}
	raw, err := bpf.Assemble(append(code, refuse(unix.Errno(p.DefaultErrnoRet))))
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, r := range raw {
		b = binary.NativeEndian.AppendUint16(b, r.Op)
		b = append(b, r.Jt, r.Jf)
		b = binary.NativeEndian.AppendUint32(b, r.K)
	}
	return b
}

// Variables with which this program stands for a container: first it takes the filter and starts what it
// is told, or itself, which then opens a sandbox.
const (
	containerFilter = "SVC_TEST_CONTAINER_FILTER"
	containerHelper = "SVC_TEST_CONTAINER_HELPER"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(containerFilter) != "":
		fmt.Fprintln(os.Stderr, contain(os.Getenv(containerFilter)))
		os.Exit(1)
	case os.Getenv(containerHelper) != "":
		if err := openInContainer(os.Getenv(containerHelper)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func contain(file string) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // which then is the process
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := filter(code); err != nil {
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, containerFilter+"=") })
	args := os.Args
	if len(args) > 2 && args[1] == "--" {
		args = args[2:]
	}
	return syscall.Exec(args[0], args, env)
}

func openInContainer(helper string) error {
	dir, err := os.MkdirTemp("", "sb")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	box, err := sandbox.OpenMode(context.Background(), sandbox.Config{Helper: helper, Dir: dir, Network: sandbox.ProxyNetwork}, "full")
	if err != nil {
		return err
	}
	defer box.Close()
	r, err := box.Run(context.Background(), sandbox.Spec{Args: []string{"sh", "-c", "echo ran"}})
	if err == nil && r.Stdout != "ran\n" {
		err = fmt.Errorf("got %+v", r)
	}
	return err
}

// With the profile's filter around it, and no other, the sandbox has its mode full, with its whole
// self-test, for an ordinary user and for root.
func TestSandboxUnderContainerProfile(t *testing.T) {
	dir, err := os.MkdirTemp("", "profile")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	helper, self, code := filepath.Join(dir, "svc-sandbox"), filepath.Join(dir, "test"), filepath.Join(dir, "filter")
	if err := sandboxtest.Build(helper, ""); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{self: program, code: asFilter(t, readProfile(t))} {
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	box, err := sandbox.OpenMode(t.Context(), sandbox.Config{Helper: helper}, "full")
	sandboxtest.Check(t, "full", err) // else the host does not allow it without the profile either
	box.Close()
	users := map[string]*syscall.Credential{"this user": nil}
	if os.Geteuid() == 0 {
		users["nobody"] = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for _, name := range slices.Sorted(maps.Keys(users)) {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(self)
			cmd.Dir, cmd.Env = "/", append(os.Environ(), containerFilter+"="+code, containerHelper+"="+helper)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: users[name], Pdeathsig: syscall.SIGKILL}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
