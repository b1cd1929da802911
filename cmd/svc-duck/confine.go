//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// overhead is memory that a process takes beside what the database counts: the runtime's heap, the
// stacks of threads, the answer.
const overhead = 512 << 20

// The layers of confinement that a kernel may lack.
const layerLandlock = "landlock"

// confineQuery takes from the process everything but reading the snapshot, computing, and answering on
// the pipes that it has. There is no way back. It returns the layers that this kernel does not have; a
// kernel without seccomp is an error, because then nothing would keep a statement from writing.
func confineQuery(snapshot string, q duckwire.Query) (degraded []string, err error) {
	processor := uint64((q.Time*time.Duration(q.Threads) + grace) / time.Second)
	for _, l := range []struct {
		name  string
		which int
		most  uint64
	}{
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"core size", unix.RLIMIT_CORE, 0},
		{"open files", unix.RLIMIT_NOFILE, 64},
		{"processor time", unix.RLIMIT_CPU, processor},
		{"memory", unix.RLIMIT_DATA, uint64(q.Memory) + uint64(len(q.SQL)) + 4*uint64(q.Bytes) + overhead},
	} {
		if err := limit(l.which, l.most); err != nil {
			return nil, fmt.Errorf("limiting the %s: %w", l.name, err)
		}
	}
	// Landlock is for all threads, which are found in /proc. A sandbox without that has Landlock already.
	if _, err := os.ReadDir("/proc/self/task"); err != nil && inSandbox() {
		degraded = []string{layerLandlock}
	} else if degraded, err = confineFiles(landlock.ROFiles(snapshot)); err != nil {
		return degraded, err
	}
	if err := filterCalls(); err != nil {
		return degraded, fmt.Errorf("filtering system calls: %w", err)
	}
	return degraded, nil
}

// limit lowers a limit for good. One that is lower already stays.
func limit(which int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(which, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(which, &unix.Rlimit{Cur: most, Max: most})
}

// confineFiles leaves the process these files, no port to connect to or to listen on, and no way to
// signal others. The limits of its cgroup stay readable: the database dies when it sees that they are
// there and cannot open them.
func confineFiles(rules ...landlock.Rule) (degraded []string, err error) {
	if abi, err := landlocksys.LandlockGetABIVersion(); err != nil || abi < 1 {
		return []string{layerLandlock}, nil
	}
	rules = append(rules, landlock.ROFiles("/proc/self/cgroup").IgnoreIfMissing(), landlock.RODirs("/sys/fs/cgroup").IgnoreIfMissing())
	if err := landlock.V6.BestEffort().Restrict(rules...); err != nil {
		return nil, fmt.Errorf("restricting the view of files: %w", err)
	}
	return nil, nil
}
