//go:build linux

package testscript

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/remote/remotetest"
	"github.com/svc-gateway/svc/internal/bus/redistest"
	"github.com/svc-gateway/svc/internal/tcpport"
	"github.com/svc-gateway/svc/internal/testcert"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

type sessionKey struct{}

// session is what a script has beside its files. Its commands run one after the other.
type session struct {
	home, port string
	stages     bool   // the binary is a Caddy with our stages, not the service
	program    string // the binary, without symbolic links
	token      *string
	directory  *ldaptest.Server
	redis      *redistest.Server
	lent       *remotetest.Fleet // the sandboxes of lender
	devices    devices           // network devices of the script
	gateways   map[string]string // ports by names
	folder     string            // the data folder of the gateway that commands are about; empty: there is one service
	streams    map[string]*group
	issuers    map[string]*oidctest.Provider // by the names of their variables
	releases   []func()
	authority  *testcert.Authority // signs what certificate makes
	cleanup    func(func())
}

// setup prepares a script: a HOME whose path is short enough for sockets, a port, the binary in
// the PATH. Of the environment of the tests nothing but the PATH is left.
func setup(e *testscript.Env, bin, helper string) error {
	home, err := os.MkdirTemp("", "svc")
	if err != nil {
		return err
	}
	program, err := filepath.EvalSymlinks(filepath.Join(bin, "service"))
	if err != nil {
		return err
	}
	port, err := reservePort(e.Defer)
	if err != nil {
		return err
	}
	clients, err := filepath.Abs(filepath.Join("testdata", "clients"))
	if err != nil {
		return err
	}
	skills, err := filepath.Abs("../deploy/skills")
	if err != nil {
		return err
	}
	s := &session{home: home, port: port, program: program, streams: map[string]*group{}, gateways: map[string]string{}, issuers: map[string]*oidctest.Provider{}, cleanup: e.Defer}
	e.Values[sessionKey{}] = s
	e.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	e.Setenv("HOME", home)
	e.Setenv("PORT", port)
	e.Setenv("SVC_PORT", port)
	e.Setenv("SVC_AUTH_MODE", "token")
	e.Setenv("SVC_RUNTIME_PROJECT_ROOT", e.WorkDir)
	e.Setenv("CLIENTS", clients)
	e.Setenv("MCP", filepath.Join(filepath.Dir(clients), "mcp"))
	e.Setenv("SANDBOX", helper)
	e.Setenv("SKILLS", skills)
	e.Defer(func() {
		err := errors.Join(s.endServices(), unmountBelow(home), os.RemoveAll(home))
		if err != nil {
			e.T().Log("cleaning up: " + err.Error())
		}
	})
	return nil
}

// port reserves more ports beside $PORT.
func port(c *call) error {
	if len(c.args) == 0 {
		return errors.New("usage: port VAR…")
	}
	for _, name := range c.args {
		p, err := reservePort(c.cleanup)
		if err != nil {
			return err
		}
		c.ts.Setenv(name, p)
	}
	return nil
}

// reservePort keeps a port for the script's service until the script ends.
func reservePort(deferred func(func())) (string, error) {
	p, err := tcpport.Reserve()
	if err != nil {
		return "", err
	}
	deferred(p.Close)
	return p.String(), nil
}

// services are the processes of this script's services, or of the gateway that commands are about.
func (s *session) services() ([]int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return nil, err
		}
		if exe, err := os.Readlink(dir + "/exe"); err != nil || strings.TrimSuffix(exe, " (deleted)") != s.program {
			continue
		}
		// Another script's, or a process that has just ended.
		environ, err := os.ReadFile(dir + "/environ")
		if err == nil && bytes.Contains(environ, []byte("HOME="+s.home+"\x00")) &&
			(s.folder == "" || bytes.Contains(environ, []byte("SVC_HOME="+s.folder+"\x00"))) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// signal sends sig to the service, which must be running.
func (s *session) signal(sig syscall.Signal) error {
	pids, err := s.services()
	if err != nil {
		return err
	}
	if len(pids) == 0 {
		return errors.New("the service is not running")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil {
			return fmt.Errorf("signalling %d: %w", pid, err)
		}
	}
	return nil
}

func (s *session) awaitGone() error {
	return poll(func() (bool, error) {
		pids, err := s.services()
		if len(pids) > 0 {
			err = fmt.Errorf("still running: %v", pids)
		}
		return len(pids) == 0 && err == nil, err
	})
}

func (s *session) endServices() error {
	s.folder = "" // all of them
	if pids, err := s.services(); err != nil || len(pids) == 0 {
		return err
	}
	return errors.Join(s.signal(syscall.SIGKILL), s.awaitGone())
}

func kill9(c *call) error {
	pids, err := c.services()
	if err != nil {
		return err
	}
	if err := errors.Join(c.signal(syscall.SIGKILL), c.awaitGone()); err != nil {
		return err
	}
	// A process that is being killed loses its program before its sockets.
	return poll(func() (bool, error) {
		for _, pid := range pids {
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
				return false, fmt.Errorf("still ending: %d", pid)
			}
		}
		return true, nil
	})
}

func sigterm(c *call) error { return c.signal(syscall.SIGTERM) }

func gone(c *call) error { return c.awaitGone() }

// tmpfs mounts a file system that can be filled up.
func tmpfs(c *call) error {
	if len(c.args) != 2 {
		return errors.New("usage: tmpfs DIR SIZE")
	}
	dir := c.ts.MkAbs(c.args[0])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+c.args[1])
}

// unmountBelow ends the mounts in a folder.
func unmountBelow(dir string) error {
	table, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return err
	}
	var errs []error
	for line := range strings.SplitSeq(string(table), "\n") {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			errs = append(errs, unix.Unmount(f[1], unix.MNT_DETACH))
		}
	}
	return errors.Join(errs...)
}

// condition adds [mount]: file systems can be mounted here, and [clients] and [mcp]: the published packages of
// that folder of testdata are installed, and [node22]: Node.js is at least that.
func condition(name string) (bool, error) {
	switch name {
	case "mount":
		return mountable()
	case "clients", "mcp":
		_, err := os.Stat(filepath.Join("testdata", name, "node_modules"))
		return err == nil, nil
	case "node22": // the newest Node.js that packages ask for
		out, err := exec.Command("node", "--version").Output()
		major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
		n, bad := strconv.Atoi(major)
		return err == nil && bad == nil && n >= 22, nil
	}
	return false, fmt.Errorf("there is no condition %s", name)
}

func mountable() (bool, error) {
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return false, nil
	}
	return true, unix.Unmount(dir, 0)
}

func later(c *call) error {
	if len(c.args) != 2 {
		return errors.New("usage: later VAR DURATION")
	}
	d, err := time.ParseDuration(c.args[1])
	if err != nil {
		return err
	}
	c.ts.Setenv(c.args[0], time.Now().Add(d).UTC().Format(time.RFC3339Nano))
	return nil
}
