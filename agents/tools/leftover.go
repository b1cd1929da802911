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

// sweep is called when the program with the number group, and its group, have ended.
func (k keeper) sweep(group int) {
	if k.mark == "" {
		return
	}
	for wait(-group) { // those of the group became ours
	}
	for {
		left := k.left()
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
			wait(pid)
		}
		if len(left) == 0 {
			return
		}
	}
}

// wait takes the status of a child, or of one of a group if the number is negative, when it has
// ended. It reports false when there is none.
func wait(pid int) bool {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// left are the children of this process that have the mark, and those of other sessions that have
// ended. Their own children become ours when they have ended.
func (k keeper) left() (pids []int) {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		p, ok := statOf(dir)
		if !ok || p.parent != os.Getpid() {
			continue
		}
		if p.zombie {
			if p.session != session { // nobody here started it, so nobody waits for it
				pids = append(pids, pid)
			}
			continue
		}
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && bytes.Contains(env, []byte(markName+"="+k.mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stat is what /proc says of a process.
type stat struct {
	zombie          bool
	parent, session int
}

// statOf reads about the process with a folder in /proc; it is not ok when the process has gone.
func statOf(dir string) (s stat, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return s, false
	}
	// The name, in parentheses, may hold anything; state, parent, group and session come after it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 4 {
		return s, false
	}
	var err1, err2 error
	s.zombie = fields[0][0] == 'Z'
	s.parent, err1 = strconv.Atoi(string(fields[1]))
	s.session, err2 = strconv.Atoi(string(fields[3]))
	return s, err1 == nil && err2 == nil
}
