package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// probePlace is where the helper is seen in its own test.
const probePlace = "/workspace-probe"

// canary is a variable of this process that no program must see.
const canary = "SVC_SANDBOX_CANARY"

// selfTest has the helper try to get out of a sandbox. Things to be found stand around it: a file in a
// hidden folder, servers, sockets.
func (b *Box) selfTest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	t, err := newTrap(b)
	if err != nil {
		return fmt.Errorf("preparing the self-test: %w", err)
	}
	defer t.close()
	req, err := t.request()
	if err != nil {
		return err
	}
	result, err := t.box.run(ctx, req, Spec{}, 1<<20)
	if err != nil {
		return err
	}
	var found []wire.Finding
	if err := json.Unmarshal([]byte(result.Stdout), &found); err != nil || len(found) == 0 {
		return &Unavailable{fmt.Sprintf("the self-test did not end (exit %d %s): %s", result.Exit, result.Signal, result.Stderr)}
	}
	t.close()
	b.findings = make([]Finding, 0, len(found))
	var escaped []string
	for _, f := range found {
		if n := t.caught[f.Attempt]; n != nil && n.Load() > 0 {
			f.Held, f.Found = false, "something arrived on the host"
		}
		b.findings = append(b.findings, Finding(f))
		if !f.Held {
			escaped = append(escaped, f.Attempt+" ("+f.Found+")")
		}
	}
	if len(escaped) > 0 {
		return &Unavailable{"the self-test got out of the sandbox: " + strings.Join(escaped, ", ")}
	}
	return nil
}

// trap is what stands around a self-test.
type trap struct {
	box    Box
	dir    string // hidden
	plan   wire.Probe
	caught map[string]*atomic.Int64 // what arrived, by the attempt that sent it
	closes []func()
}

func newTrap(b *Box) (t *trap, err error) {
	t = &trap{box: *b, caught: map[string]*atomic.Int64{"tcp": {}, "udp": {}, "unix_socket": {}}}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	t.dir = b.path(newID())
	if err := os.Mkdir(t.dir, 0o755); err != nil { // only the sandbox keeps others out
		return t, err
	}
	t.closes = append(t.closes, func() { _ = os.RemoveAll(t.dir) })
	secret := filepath.Join(t.dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o666); err != nil {
		return t, err
	}
	if err := os.Chmod(secret, 0o666); err != nil {
		return t, err
	}
	if resolved, err := filepath.EvalSymlinks(t.dir); err == nil {
		t.dir, secret = resolved, filepath.Join(resolved, "secret")
	}
	t.plan = wire.Probe{
		Mode: b.mode, Network: wire.Network(b.config.Network), Secret: secret, Env: canary, PID: os.Getpid(),
		Unix: []string{filepath.Join(t.dir, "s"), "@" + filepath.Base(t.dir)}, Spaces: map[string]string{},
	}
	for _, kind := range []string{"user", "pid", "mnt", "ipc", "uts", "cgroup", "net"} {
		if t.plan.Spaces[kind], err = os.Readlink("/proc/self/ns/" + kind); err != nil {
			return t, err
		}
	}
	for _, name := range t.plan.Unix {
		if _, err := t.listen("unix_socket", "unix", name); err != nil {
			return t, err
		}
	}
	if t.plan.TCP, err = t.listen("tcp", "tcp", "127.0.0.1:0"); err != nil {
		return t, err
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return t, err
	}
	t.plan.UDP = udp.LocalAddr().String()
	done := make(chan struct{})
	t.closes = append(t.closes, func() {
		_ = udp.SetReadDeadline(time.Now().Add(time.Millisecond)) // what has arrived is read
		<-done
		_ = udp.Close()
	})
	go func() {
		defer close(done)
		for buf := make([]byte, 64); ; {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
			t.caught["udp"].Add(1)
		}
	}()
	return t, nil
}

// listen counts connections.
func (t *trap) listen(attempt, network, address string) (string, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return "", err
	}
	done := make(chan struct{})
	t.closes = append(t.closes, func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.caught[attempt].Add(1)
			_ = conn.Close()
		}
	}()
	return l.Addr().String(), nil
}

// close takes the trap away. It may be called again.
func (t *trap) close() {
	for _, f := range t.closes {
		f()
	}
	t.closes = nil
}

// request runs the helper as the program, with a bind that contains the hidden folder.
func (t *trap) request() (wire.Request, error) {
	t.box.config.Hidden = append([]string{t.dir}, t.box.config.Hidden...)
	req, err := t.box.request(Spec{Args: []string{"probe"}})
	if err != nil {
		return req, err
	}
	helper, err := filepath.EvalSymlinks(t.box.config.Helper)
	if err != nil {
		return req, fmt.Errorf("finding the helper: %w", err)
	}
	t.plan.Limits, t.plan.UserID = req.Limits, os.Geteuid()
	if t.plan.UserID == 0 {
		t.plan.UserID = req.UID
	}
	t.plan.Scoped = landlockScopes()
	if t.plan.Network == wire.Proxy && t.box.mode == wire.Minimal {
		t.plan.Network = wire.NoNetwork
	}
	program := probePlace
	if t.box.mode == wire.Minimal { // which has no mounts: a copy of the helper goes into the workspace
		content, err := os.ReadFile(helper)
		if err != nil {
			return req, err
		}
		req.Limits.Workspace += int64(len(content))
		t.plan.Limits.Workspace = req.Limits.Workspace
		req.Files = []wire.File{{Path: "probe", Exec: true, Content: content}}
		program = "./probe"
	} else {
		req.Binds = []wire.Bind{
			{Source: helper, Target: probePlace},
			{Source: filepath.Dir(t.dir), Target: filepath.Dir(t.dir)},
		}
	}
	plan, err := json.Marshal(t.plan)
	if err != nil {
		return req, err
	}
	req.Args = []string{program, "probe", string(plan)}
	req.TimeoutMS = openTime.Milliseconds()
	return req, nil
}

// landlockScopes reports whether the kernel's Landlock keeps signals within a sandbox.
func landlockScopes() bool {
	abi, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return e == 0 && abi >= 6
}
