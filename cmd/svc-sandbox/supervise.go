package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
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

// supervisor is the process outside: it makes the namespaces and the control groups, and ends the
// sandbox when the service is gone or the one inside does not.
type supervisor struct {
	text   []byte // the request as it came
	req    wire.Request
	groups groups
	init   *exec.Cmd
	reply  *os.File
	to     *os.File // the order for the one inside
}

// supervise runs the request on descriptor 3 and tells how it went on descriptor 4. Its exit code is 0
// when it could tell.
func supervise() int {
	for fd := wire.FDRequest; fd <= wire.FDStderr; fd++ {
		unix.CloseOnExec(fd)
	}
	request, reply := os.NewFile(wire.FDRequest, "request"), os.NewFile(wire.FDReply, "reply")
	summary := wire.Summary{Version: wire.Version}
	s := &supervisor{reply: reply}
	if err := s.run(request, &summary); err != nil {
		summary.Error = &wire.Fault{Part: wire.PartSandbox, Text: err.Error()}
		_ = errors.As(err, &summary.Error)
	}
	if err := wire.WriteMessage(reply, wire.KindSummary, summary); err != nil {
		fmt.Fprintln(os.Stderr, "svc-sandbox: sending the summary:", err)
		return 1
	}
	return 0
}

func (s *supervisor) run(request *os.File, summary *wire.Summary) error {
	if err := s.read(request); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	s.groups = newGroups(s.req.ID, s.req.Limits)
	defer s.groups.remove()
	summary.Degraded = append(s.groups.missing(), s.degraded()...)
	if err := s.start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, request) // nothing more comes: it ends when the service does
	}()
	ended := make(chan error, 1)
	go func() { ended <- s.init.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-gone:
		s.kill()
		<-ended
		return errors.New("the service has gone")
	case <-time.After(time.Duration(s.req.TimeoutMS)*time.Millisecond + grace):
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
	hidden, err := aliases(s.req.Hidden)
	if err != nil {
		return fmt.Errorf("looking for other names of hidden files: %w", err)
	}
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
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.to = w
	s.init = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"svc-sandbox", argInside}, Stderr: os.Stderr,
		Env:         append(weakened(), "GOMAXPROCS=2", "GOTRACEBACK=none"),
		SysProcAttr: s.attributes(),
	}
	s.init.ExtraFiles = []*os.File{r, s.reply}
	for fd := wire.FDStdin; fd <= wire.FDStderr; fd++ {
		s.init.ExtraFiles = append(s.init.ExtraFiles, os.NewFile(uintptr(fd), strconv.Itoa(fd)))
	}
	err = s.init.Start()
	for i, f := range s.init.ExtraFiles {
		if i != wire.FDReply-wire.FDRequest {
			_ = f.Close() // else whoever reads the output would wait for this process too
		}
	}
	if err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	if err := s.groups.add(s.init.Process.Pid); err != nil {
		s.kill()
		_ = s.init.Wait()
		return err
	}
	o := order{UID: os.Getuid(), GID: os.Getgid(), OwnUsers: s.req.Mode == wire.Full}
	if o.UID == 0 {
		o.UID, o.GID = s.req.UID, s.req.GID
	}
	o.MaxTasks = s.maxTasks(o.UID)
	text, err := json.Marshal(o)
	if err != nil {
		return err
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
	_ = s.init.Wait()
	return err
}

// attributes are those of a process in new namespaces.
func (s *supervisor) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL, Setsid: true}
	if s.req.Mode == wire.Minimal {
		attr.Pdeathsig = 0 // it ends the others first when this process dies
		return attr
	}
	for l, flag := range map[layer]uintptr{
		layerPID: unix.CLONE_NEWPID, layerIPC: unix.CLONE_NEWIPC, layerUTS: unix.CLONE_NEWUTS,
		layerNet: unix.CLONE_NEWNET, layerCgroupNS: unix.CLONE_NEWCGROUP, layerRoot: unix.CLONE_NEWNS,
	} {
		if !off(l) && (l != layerNet || s.req.Network != wire.Host) {
			attr.Cloneflags |= flag
		}
	}
	if s.req.Mode == wire.Rooted || off(layerUser) {
		return attr
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings, attr.GidMappings = ids(os.Getuid(), s.req.UID), ids(os.Getgid(), s.req.GID)
	attr.GidMappingsEnableSetgroups = os.Getuid() == 0
	return attr
}

// ids keeps the number of this process, and for root that of the command.
func ids(ours, command int) []syscall.SysProcIDMap {
	all := []syscall.SysProcIDMap{{ContainerID: ours, HostID: ours, Size: 1}}
	if ours == 0 && command != 0 {
		all = append(all, syscall.SysProcIDMap{ContainerID: command, HostID: command, Size: 1})
	}
	return all
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
