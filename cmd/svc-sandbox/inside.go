package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// order is what the supervisor adds to a request for the process inside.
type order struct {
	UID      int  `json:"uid"` // of the command
	GID      int  `json:"gid"`
	OwnUsers bool `json:"own_users"` // there is a user namespace
	MaxTasks int  `json:"max_tasks"` // RLIMIT_NPROC, 0 for none
	Landlock int  `json:"landlock"`  // the version to use, 0 for none
	// Filter is the program that judges system calls.
	Filter []byte `json:"filter"`
}

// fdOrder is the socket to the supervisor in the process inside.
const fdOrder = 3

// insider is the first process of a sandbox, or in minimal mode the parent of all in it.
type insider struct {
	order

	req      wire.Request
	from     *os.File // the supervisor; it closes when that dies
	reply    *os.File
	stdio    []uintptr
	degraded []string
	writable []string // binds, as they are called inside
	work     *os.Root // the workspace
	killer   killer
	status   unix.WaitStatus // of the command, once it has ended
	ended    bool
}

// inside runs the command and reports how it went. Its exit code is 0 once a report is written.
func inside() int {
	in := &insider{}
	if err := in.receive(); err != nil {
		return 1 // it is not needed
	}
	report, err := in.run()
	if err != nil {
		fault := &wire.Fault{Part: wire.PartSandbox, Text: err.Error()}
		_ = errors.As(err, &fault)
		report = wire.Report{Exit: -1, Error: fault}
	}
	report.Degraded = in.degraded
	if err := in.send(report); err != nil {
		fmt.Fprintln(os.Stderr, "svc-sandbox: sending the report:", err)
		return 1
	}
	return 0
}

func (in *insider) run() (wire.Report, error) {
	if err := in.read(); err != nil {
		return wire.Report{}, fmt.Errorf("reading the request: %w", err)
	}
	// Without a PID namespace of its own, everybody would be everybody on the host.
	if os.Getpid() == 1 && in.req.Mode != wire.Minimal {
		in.killer = everybody{}
		deaf()
	} else {
		in.killer = family{}
		if _, _, ok := procStat(os.Getpid()); !ok && in.req.Mode == wire.Minimal {
			return wire.Report{}, errors.New("this host has no /proc, so that what a program leaves behind could not be ended")
		}
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return wire.Report{}, fmt.Errorf("becoming the parent of what is left behind: %w", err)
		}
	}
	score, err := os.OpenFile("/proc/self/oom_score_adj", os.O_WRONLY, 0)
	if err == nil { // when memory runs out, this process should not be the one to go
		_, _ = score.WriteString("500")
		defer func() { _ = score.Close() }()
	}
	if err := in.view(); err != nil {
		return wire.Report{}, err
	}
	if err := in.fill(); err != nil {
		return wire.Report{}, err
	}
	pid, err := in.startApart()
	if score != nil {
		_, _ = score.WriteString("0")
	}
	if err != nil {
		return wire.Report{}, err
	}
	return in.wait(pid)
}

// receive waits for the descriptors of a run, which come before the order.
func (in *insider) receive() error {
	unix.CloseOnExec(fdOrder)
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := unix.Recvmsg(fdOrder, b[:], oob, unix.MSG_CMSG_CLOEXEC)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) != 1 {
		return errors.New("there are no descriptors")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 4 {
		return errors.New("there are too few descriptors")
	}
	in.from, in.reply = os.NewFile(fdOrder, "supervisor"), os.NewFile(uintptr(fds[0]), "reply")
	for _, fd := range fds[1:] {
		in.stdio = append(in.stdio, uintptr(fd))
	}
	return nil
}

func (in *insider) read() error {
	text, err := wire.ReadRequest(in.from, wire.MaxMessage)
	if err == nil {
		err = json.Unmarshal(text, &in.order)
	}
	if err != nil {
		return err
	}
	text, err = wire.ReadRequest(in.from, maxRequest)
	if err == nil {
		err = json.Unmarshal(text, &in.req)
	}
	return err
}

// view builds what the command sees.
func (in *insider) view() error {
	workspace := in.req.Workspace
	if in.req.Mode != wire.Minimal {
		workspace = wire.Workspace
		if err := in.network(); err != nil {
			return err
		}
		if !off(layerUTS) {
			if err := unix.Sethostname([]byte("sandbox")); err != nil {
				return fmt.Errorf("setting the host name: %w", err)
			}
		}
		r := root{req: &in.req, uid: in.UID, gid: in.GID}
		if err := r.enter(); err != nil {
			return err
		}
		in.writable, in.degraded = r.writable, r.lacks
	}
	w, err := os.OpenRoot(workspace)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	in.work = w
	dir := in.req.Dir
	if dir == "" {
		dir = workspace
	}
	if err := os.Chdir(dir); err != nil {
		return &wire.Fault{Part: wire.PartRequest, Text: fmt.Sprintf("the command cannot start in %s: %v", dir, errors.Unwrap(err))}
	}
	return nil
}

// startApart starts the command from a thread of its own, which ends with that. It is never the first
// thread: by that one the kernel judges who may send signals to this process.
func (in *insider) startApart() (pid int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		pid, err = in.start()
	}()
	<-done
	return pid, err
}

// start gives up what this thread may do and starts the command from it.
func (in *insider) start() (int, error) {
	if err := in.limit(); err != nil {
		return 0, err
	}
	if !off(layerFDs) {
		if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
			return 0, fmt.Errorf("closing descriptors: %w", err)
		}
	}
	if err := in.giveUp(); err != nil {
		return 0, err
	}
	program, err := lookPath(in.req.Args[0], in.req.Env)
	if err == nil {
		var pid int
		pid, err = syscall.ForkExec(program, in.req.Args, &syscall.ProcAttr{
			Env:   in.req.Env,
			Files: in.stdio,
			Sys:   &syscall.SysProcAttr{Setsid: !off(layerSession)},
		})
		if err == nil {
			for _, fd := range in.stdio {
				_ = unix.Close(int(fd))
			}
			return pid, nil
		}
	}
	return 0, &wire.Fault{Part: wire.PartCommand, Text: fmt.Sprintf("starting %s: %v", in.req.Args[0], err)}
}

// wait waits for the command, or for the end of its time or of the supervisor, and ends all that is
// left.
func (in *insider) wait(pid int) (wire.Report, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		in.killer.kill()
		return wire.Report{}, fmt.Errorf("waiting for the command: %w", err)
	}
	deadline := time.Now().Add(time.Duration(in.req.TimeoutMS) * time.Millisecond)
	var timedOut bool
	for {
		left := time.Until(deadline)
		if timedOut = left <= 0; timedOut {
			break
		}
		events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: fdOrder, Events: unix.POLLIN}}
		n, err := unix.Poll(events, int(min(left, reapEvery).Milliseconds())+1)
		if n > 0 && events[1].Revents != 0 { // the supervisor never says anything: it is gone
			in.killer.kill()
			os.Exit(1)
		}
		in.reap(pid, unix.WNOHANG)
		if in.ended || err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	in.killer.kill()
	in.reap(pid, 0)
	report := wire.Report{Exit: in.status.ExitStatus(), TimedOut: timedOut}
	if in.status.Signaled() {
		report.Exit, report.Signal = -1, unix.SignalName(in.status.Signal())
	}
	return report, nil
}

// reapEvery is how often what has ended without its parent is looked for: it counts as a process.
const reapEvery = 100 * time.Millisecond

// reap takes the status of all that has ended, or waits for all if options are 0.
func (in *insider) reap(pid, options int) {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || got == 0: // nobody is left, or has ended
			return
		case got == pid:
			in.status, in.ended = ws, true
		}
	}
}
