package tools

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// What a program starts may leave the program's process group (setsid) and outlive it. Where this
// process may make PID namespaces, that is as root, each program gets one, and the kernel ends all
// that is in it with the program. Elsewhere this process becomes the parent of what is left behind
// (a "subreaper"), finds it by a mark in its environment and ends it; what clears its environment
// gets away.

// markName is the environment variable that tells the processes of one call from all others.
const markName = "SVC_CALL"

// keeper sees to what a program leaves behind. The zero value uses a PID namespace.
type keeper struct{ mark string }

// namespaces reports whether this process may make PID namespaces.
var namespaces = sync.OnceValue(func() bool {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID}
	return cmd.Run() == nil
})

// newKeeper chooses what can be done here.
func newKeeper() keeper {
	if namespaces() {
		return keeper{}
	}
	return newReaper()
}

var subreaper = sync.OnceValue(func() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

func newReaper() keeper {
	_ = subreaper() // without it, what is left behind goes to init, and cannot be found
	return keeper{mark: rand.Text()}
}

// prepare is called before the program starts.
func (k keeper) prepare(cmd *exec.Cmd) {
	if k.mark == "" {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWPID
		return
	}
	cmd.Env = append(cmd.Env, markName+"="+k.mark)
}

// sweep is called when the program and its group have ended.
func (k keeper) sweep() {
	for k.mark != "" {
		left := k.left()
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
			for { // it is ours by now, and nobody else waits for it
				if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
					break
				}
			}
		}
		if len(left) == 0 {
			return
		}
	}
}

// left are the children of this process that have the mark. Their own children become ours when
// they have ended.
func (k keeper) left() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || parent(dir) != os.Getpid() {
			continue
		}
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && bytes.Contains(env, []byte(markName+"="+k.mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parent is the parent of the process with a folder in /proc; 0 when it has gone.
func parent(dir string) int {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; the state and the parent come after it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return ppid
}
