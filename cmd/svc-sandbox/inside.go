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

// The descriptors that the process inside is started with.
const (
	fdOrder = 3 + iota
	fdReply
	fdStdin
	fdStdout
	fdStderr
)

// insider is the first process of a sandbox, or in minimal mode the parent of all in it.
type insider struct {
	order

	req      wire.Request
	from     *os.File // the supervisor; it closes when that dies
	reply    *os.File
	degraded []string
	writable []string // binds, as they are called inside
	work     *os.Root // the workspace
	killer   killer
}

// inside runs the command and reports how it went. Its exit code is 0 once a report is written.
func inside() int {
	in := &insider{from: os.NewFile(fdOrder, "request"), reply: os.NewFile(fdReply, "reply")}
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
	in.killer = everybody{}
	if in.req.Mode != wire.Minimal && !off(layerPID) {
		deaf()
	}
	if in.req.Mode == wire.Minimal {
		in.killer = family{}
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return wire.Report{}, fmt.Errorf("becoming the parent of what is left behind: %w", err)
		}
	}
	go in.outlive()

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
	return in.wait(pid), nil
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

// outlive ends the sandbox when the supervisor is gone.
func (in *insider) outlive() {
	_, _ = io.Copy(io.Discard, in.from)
	in.killer.kill()
	os.Exit(1)
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
		if !off(layerRoot) {
			r := root{req: &in.req, uid: in.UID, gid: in.GID}
			if err := r.enter(); err != nil {
				return err
			}
			in.writable = r.writable
		} else if err := os.MkdirAll(workspace, 0o777); err != nil {
			return err
		}
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
			Files: []uintptr{fdStdin, fdStdout, fdStderr},
			Sys:   &syscall.SysProcAttr{Setsid: !off(layerSession)},
		})
		if err == nil {
			for fd := fdStdin; fd <= fdStderr; fd++ {
				_ = unix.Close(fd)
			}
			return pid, nil
		}
	}
	return 0, &wire.Fault{Part: wire.PartCommand, Text: fmt.Sprintf("starting %s: %v", in.req.Args[0], err)}
}

// wait waits for the command, ends all that it has left behind, and collects.
func (in *insider) wait(pid int) wire.Report {
	ended := make(chan struct{})
	timedOut := make(chan bool, 1)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		select {
		case <-ended:
			timedOut <- false
		case <-time.After(time.Duration(in.req.TimeoutMS) * time.Millisecond):
			timedOut <- true
		}
		in.killer.kill()
	}()
	var status unix.WaitStatus
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil { // nobody is left
			break
		}
		if got == pid {
			status = ws
			close(ended)
		}
	}
	<-killed
	for { // those that the killer found after the last of the others was gone
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	report := wire.Report{Exit: status.ExitStatus(), TimedOut: <-timedOut}
	if status.Signaled() {
		report.Exit, report.Signal = -1, unix.SignalName(status.Signal())
	}
	return report
}
