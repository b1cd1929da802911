package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// leashNumber is the descriptor under which a command has its output pipe once more. Scripts use lower
// ones, and so the pipe stays with what redirects its output.
const leashNumber = 60

// leash finds the processes of one command, also those that have left its process group (setsid) and
// lost their parents: they hold the write end of its pipe. A mark in the environment, as package
// tools uses it, would be one variable more than a hook is to have, and a PID namespace would keep a
// hook from sending signals to the services of this host. What closes every descriptor that it was
// given gets away.
type leash struct{ pipe string }

// newLeash makes the leash of a pipe.
func newLeash(w *os.File) (leash, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(w.Fd()), &st); err != nil {
		return leash{}, fmt.Errorf("looking at the pipe: %w", err)
	}
	return leash{fmt.Sprintf("pipe:[%d]", st.Ino)}, nil
}

// pull kills who holds the pipe until it is silent, for so long at most. The command itself is left to who
// takes its status.
func (l leash) pull(command int, silent <-chan struct{}, most time.Duration) {
	end := time.NewTimer(most)
	defer end.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	killed := map[int]bool{}
	for {
		for _, pid := range l.holders(command) {
			_ = unix.Kill(pid, unix.SIGKILL) // gone meanwhile
			killed[pid] = true
		}
		select {
		case <-silent:
			for pid := range killed { // ours to bury, where this process takes the orphans
				wait(pid)
			}
			return
		case <-end.C:
			return
		case <-tick.C:
		}
	}
}

// holders are the processes that hold the pipe's write end, but neither this one nor the command.
func (l leash) holders(command int) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() || pid == command {
			continue
		}
		if l.heldBy(dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// heldBy reports whether the process with a folder in /proc holds the write end. A child of this process
// that has not become its program yet may hold the read end: that is none of the command's.
func (l leash) heldBy(dir string) bool {
	links, _ := filepath.Glob(dir + "/fd/*") // the pattern is well-formed
	return slices.ContainsFunc(links, func(link string) bool {
		if to, err := os.Readlink(link); err != nil || to != l.pipe {
			return false
		}
		info, err := os.Lstat(link)
		return err == nil && info.Mode().Perm()&0o200 != 0
	})
}
