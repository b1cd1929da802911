package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

const (
	// maxRequest bounds a request with the files in it.
	maxRequest = 1 << 30
	// grace is how long after its time the sandbox is ended from outside, if it has not ended itself.
	grace = 2 * time.Second
)

// supervisor looks after one sandbox from outside: it makes the namespaces and the control groups, and
// ends the sandbox when nobody waits for it any more or the process inside does not.
type supervisor struct {
	spares *spares
	text   []byte // the request as it came
	mounts string // of the host
	req    wire.Request
	groups groups
	init   *exec.Cmd
	reply  *os.File
	stdio  []*os.File
	to     *os.File // the order for the one inside
}

// supervise runs the request that the first of the descriptors brings and tells how it went on the
// second. It ends the sandbox when gone is closed.
func supervise(fds []int, sp *spares, gone <-chan struct{}) {
	_ = unix.SetNonblock(fds[0], true) // so that waiting for it takes no thread
	request, reply := os.NewFile(uintptr(fds[0]), "request"), os.NewFile(uintptr(fds[1]), "reply")
	s := &supervisor{reply: reply, spares: sp}
	for _, fd := range fds[2:] {
		s.stdio = append(s.stdio, os.NewFile(uintptr(fd), "stdio"))
	}
	summary := wire.Summary{Version: wire.Version}
	if err := s.run(request, gone, &summary); err != nil {
		summary.Error = &wire.Fault{Part: wire.PartSandbox, Text: err.Error()}
		_ = errors.As(err, &summary.Error)
	}
	_ = wire.WriteMessage(reply, wire.KindSummary, summary) // the service may be gone
	for _, f := range append(s.stdio, request, reply) {
		_ = f.Close()
	}
}

func (s *supervisor) run(request *os.File, gone <-chan struct{}, summary *wire.Summary) error {
	if err := s.read(request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	if err := s.start(); err != nil {
		return err
	}
	defer s.groups.remove()
	defer func() { _ = s.to.Close() }()
	summary.Degraded = append(s.groups.missing(), s.degraded()...)
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = io.Copy(io.Discard, request) // nothing more comes: it ends when nobody waits any more
	}()
	ended := make(chan error, 1)
	go func() { ended <- s.spares.house.wait(s.init) }()
	late := time.NewTimer(time.Duration(s.req.TimeoutMS)*time.Millisecond + grace)
	defer late.Stop()
	var err error
	select {
	case err = <-ended:
	case <-left:
		return s.leave(ended)
	case <-gone:
		return s.leave(ended)
	case <-late.C:
		s.kill()
		err = <-ended
		summary.TimedOut = true
	}
	summary.OOM = s.groups.oom()
	if err != nil && !summary.TimedOut && !summary.OOM {
		return fmt.Errorf("the sandbox ended without a report: %w", err)
	}
	return nil
}

// leave ends a sandbox that nobody waits for.
func (s *supervisor) leave(ended <-chan error) error {
	s.kill()
	return errors.Join(errors.New("the service has gone"), <-ended)
}

func (s *supervisor) read(r io.Reader) (err error) {
	if s.text, err = wire.ReadRequest(r, maxRequest); err != nil {
		return err
	}
	if err := json.Unmarshal(s.text, &s.req); err != nil {
		return err
	}
	if len(s.req.Args) == 0 || s.req.TimeoutMS <= 0 || s.req.Limits.Workspace <= 0 {
		return &wire.Fault{Part: wire.PartRequest, Text: "a command, a time and limits are needed"}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("looking at the host's mounts: %w", err)
	}
	s.mounts = string(mounts)
	hidden := aliases(s.mounts, s.req.Hidden)
	if len(hidden) != len(s.req.Hidden) {
		s.req.Hidden = hidden
		s.text, err = json.Marshal(s.req)
	}
	return err
}

// degraded says what the mode of the request lacks.
func (s *supervisor) degraded() (lacks []string) {
	if s.req.Mode == wire.Minimal {
		lacks = append(lacks, wire.NoNamespaces, wire.NoSizeCap)
		if s.req.Network == wire.Proxy {
			lacks = append(lacks, wire.NoProxy)
		}
	}
	if s.req.Mode == wire.Rooted {
		lacks = append(lacks, wire.NoUserNamespace)
	}
	if s.req.Network == wire.Host {
		lacks = append(lacks, wire.HostNetwork)
	}
	if os.Geteuid() == 0 && s.req.UID == 0 {
		lacks = append(lacks, wire.RootUser)
	}
	return lacks
}

// start starts the first process of the sandbox, puts it into its groups, and only then lets it go on.
func (s *supervisor) start() error {
	o := order{UID: os.Getuid(), GID: os.Getgid(), OwnUsers: s.req.Mode == wire.Full, Landlock: landlockABI()}
	if off(layerLandlock) {
		o.Landlock = 0
	}
	var err error
	if o.Filter, err = assembled(filterOf(s.req.Mode, s.req.Network, o.Landlock >= 6, os.Getuid() == 0 && s.req.UID != 0)); err != nil {
		return err
	}
	if err := s.adopt(); err != nil {
		return err
	}
	s.groups.limit(s.req.Limits)
	if o.UID == 0 {
		o.UID, o.GID = s.req.UID, s.req.GID
	}
	o.MaxTasks = s.maxTasks(o.UID)
	text, err := json.Marshal(o)
	if err != nil {
		return s.early(err)
	}
	if err := wire.WriteRequest(s.to, text); err != nil {
		return s.early(err)
	}
	if err := wire.WriteRequest(s.to, s.text); err != nil {
		return s.early(err)
	}
	return nil // s.to stays open: it tells the one inside that this process lives
}

// early is for an inside that ended before it had its order: its own report says why, if there is one.
func (s *supervisor) early(err error) error {
	if errors.Is(err, unix.EPIPE) {
		return nil
	}
	s.kill()
	_ = s.spares.house.wait(s.init)
	_ = s.to.Close()
	s.groups.remove()
	return err
}

// adopt gives a newborn the descriptors of the run. One that has died while it was waiting is replaced.
func (s *supervisor) adopt() error {
	rights := unix.UnixRights(int(s.reply.Fd()), int(s.stdio[0].Fd()), int(s.stdio[1].Fd()), int(s.stdio[2].Fd()))
	for {
		n, waited, err := s.spares.take(s.shape(), s.mounts)
		if err != nil {
			return err
		}
		err = unix.Sendmsg(int(n.to.Fd()), []byte{0}, rights, nil, unix.MSG_NOSIGNAL)
		if err != nil {
			n.end()
			if waited {
				continue
			}
			return fmt.Errorf("starting the sandbox: %w", err)
		}
		s.spares.refill(n.shape, s.mounts)
		s.init, s.to, s.groups = n.cmd, n.to, n.groups
		for _, f := range s.stdio {
			_ = f.Close() // else whoever reads the output would wait for this process too
		}
		return nil
	}
}

// shape says which namespaces the request needs.
func (s *supervisor) shape() shape {
	sh := shape{uid: s.req.UID, gid: s.req.GID}
	if s.req.Mode == wire.Minimal {
		return sh
	}
	sh.flags = unix.CLONE_NEWNS
	for l, flag := range map[layer]uintptr{
		layerPID: unix.CLONE_NEWPID, layerIPC: unix.CLONE_NEWIPC, layerUTS: unix.CLONE_NEWUTS,
		layerNet: unix.CLONE_NEWNET, layerCgroupNS: unix.CLONE_NEWCGROUP, layerUser: unix.CLONE_NEWUSER,
	} {
		if !off(l) && (l != layerNet || s.req.Network != wire.Host) && (l != layerUser || s.req.Mode == wire.Full) {
			sh.flags |= flag
		}
	}
	return sh
}

// maxTasks is the limit of processes of the command's user. In a user namespace of its own only those
// of the sandbox count; otherwise those that are there already do too. Root has no such limit.
func (s *supervisor) maxTasks(uid int) int {
	most := s.req.Limits.Processes + helperTasks
	switch {
	case uid == 0:
		return 0
	case s.req.Mode == wire.Full:
		return most
	case s.groups.tasks != "":
		return 0
	}
	return most + tasksOf(uid)
}

// tasksOf counts the processes and threads of a user.
func tasksOf(uid int) (n int) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Stat("/proc/"+name.Name()+"/task", &st) == nil && int(st.Uid) == uid {
			n += int(st.Nlink) - 2
		}
	}
	return n
}

// kill ends the sandbox from outside.
func (s *supervisor) kill() {
	s.groups.kill()
	if s.req.Mode == wire.Minimal {
		// The one inside ends all of its descendants before itself, when it is told.
		_ = s.to.Close()
		time.AfterFunc(grace, func() { _ = s.init.Process.Kill() })
		return
	}
	_ = s.init.Process.Kill()
}
