package main

import (
	"bytes"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// killer ends everything in the sandbox but the process that asks. Others wait for what it ends.
type killer interface{ kill() }

// everybody is for a PID namespace of our own: all that this process can see is to end. The kernel
// sends the signal to all of them at once, and who is about to fork does not get to it.
type everybody struct{}

func (everybody) kill() {
	if os.Getpid() != 1 {
		panic("there is no PID namespace") // all processes of this user would end
	}
	_ = unix.Kill(-1, unix.SIGKILL)
}

// deaf has the first process of a PID namespace hear no signals from within. The kernel does not give
// it one for which it has no handler, but Go's runtime has handlers for all, and most end the program.
// Ignoring signals would not do: what is ignored stays ignored in the programs that are started.
func deaf() {
	var byDefault [4]uint64 // the kernel's struct sigaction
	for s := uintptr(1); s <= 64; s++ {
		if s != uintptr(unix.SIGURG) { // which the runtime sends to its own threads
			_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
		}
	}
}

// family is for a sandbox without: all descendants of this process are to end. What loses its parent
// becomes its child, so that nothing gets out of the family.
type family struct{}

// kill first stops everybody: who stands still counts against the limit of processes, so those that go
// on multiplying run out of room, and then all are found.
func (family) kill() {
	stopped := map[int]bool{}
	for {
		found := false
		for _, pid := range descendants(os.Getpid()) {
			if !stopped[pid] {
				stopped[pid], found = true, true
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
		if !found {
			break
		}
	}
	for {
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// descendants are the living processes whose parents lead to pid.
func descendants(pid int) []int {
	living := processes(func(state byte) bool { return state != 'Z' && state != 'X' })
	var all []int
	for next := []int{pid}; len(next) > 0; {
		of := living[next[0]]
		all, next = append(all, of...), append(next[1:], of...)
	}
	return all
}

// children are the children of a process, those that have ended and are not waited for too.
func children(pid int) []int { return processes(func(byte) bool { return true })[pid] }

// processes are all processes whose state is wanted, by their parents.
func processes(wanted func(state byte) bool) map[int][]int {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	of := map[int][]int{}
	for _, name := range names {
		p, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		if state, parent, ok := procStat(p); ok && wanted(state) {
			of[parent] = append(of[parent], p)
		}
	}
	return of
}

// procStat is the state of a process and its parent.
func procStat(pid int) (state byte, parent int, ok bool) {
	fields, ok := statFields(pid)
	if !ok || len(fields) < 2 {
		return 0, 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err == nil
}

// statFields are the fields of /proc/PID/stat from the state on.
func statFields(pid int) ([][]byte, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, false
	}
	// The name before them, in parentheses, may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	return fields, len(fields) > 0 && len(fields[0]) > 0
}
