//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// allowed are the system calls with which a process can compute, use memory, have threads, read files
// and write to what is open. Nothing here makes, changes or removes a file, opens a socket or starts
// a program: what is not listed fails with EPERM. Those that depend on an argument are in checked.
var allowed = append([]uint32{
	unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_PREADV, unix.SYS_WRITE, unix.SYS_WRITEV,
	unix.SYS_CLOSE, unix.SYS_LSEEK, unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_FSTATFS, unix.SYS_STATFS,
	unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_GETCWD,
	unix.SYS_FCNTL, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FADVISE64, unix.SYS_READAHEAD,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_PPOLL, unix.SYS_PSELECT6,
	unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_BRK, unix.SYS_MINCORE, unix.SYS_MEMBARRIER,
	unix.SYS_FUTEX, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER,
	unix.SYS_GETRUSAGE, unix.SYS_TIMES, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_GETRANDOM, unix.SYS_GETCPU,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}, allowedHere...)

// check is a system call that is allowed while one of its arguments has none of some bits, or all of
// them, or is a value.
type check struct {
	call uint32
	arg  uint32 // its place, from 0
	rule rule
	bits uint32
}

type rule int

const (
	none  rule = iota // of the bits is set
	all               // of them are
	equal             // to the value
)

// writing are the flags of open that could change something.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND | unix.O_TMPFILE&^unix.O_DIRECTORY

// checked are the calls that depend on an argument. A file opens for reading only, memory is never
// executable, a new task is a thread of this process, a signal is for this process.
func checked() []check {
	return append([]check{
		{unix.SYS_OPENAT, 2, none, writing},
		{unix.SYS_MMAP, 2, none, unix.PROT_EXEC},
		{unix.SYS_MPROTECT, 2, none, unix.PROT_EXEC},
		{unix.SYS_CLONE, 0, all, unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND},
		{unix.SYS_TGKILL, 0, equal, uint32(os.Getpid())},
		{unix.SYS_PRCTL, 0, equal, unix.PR_SET_NAME},
		{unix.SYS_PRLIMIT64, 2, equal, 0}, // reading a limit
	}, checkedHere...)
}

// The offsets in struct seccomp_data. All machines that we build for are little-endian.
const (
	offCall = 0
	offArch = 4
	offArgs = 16
)

func deny(errno uint32) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | errno}
}

// program is the filter. Only the lower halves of arguments are looked at: the kernel takes flags
// from there, and process ids.
func program() []bpf.Instruction {
	permit := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: offCall, Size: 4},
	}
	for _, call := range allowed {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, permit)
	}
	// The C library falls back to clone, whose flags can be seen.
	p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1}, deny(uint32(unix.ENOSYS)))
	for _, c := range checked() {
		p = append(p,
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: c.call, SkipTrue: 5},
			bpf.LoadAbsolute{Off: offArgs + 8*c.arg, Size: 4})
		switch c.rule {
		case none:
			p = append(p, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.bits}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipFalse: 1})
		case all:
			p = append(p, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.bits}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: c.bits, SkipFalse: 1})
		case equal:
			p = append(p, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: ^uint32(0)}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: c.bits, SkipFalse: 1})
		}
		p = append(p, permit, deny(uint32(unix.EACCES)))
	}
	return append(p, deny(uint32(unix.EPERM)))
}

// filterCalls has the kernel refuse the process all system calls that are not allowed, in all of its
// threads.
func filterCalls() error {
	raw, err := bpf.Assemble(program())
	if err != nil {
		return fmt.Errorf("assembling the filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	failed, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errno != 0:
		return errno
	case failed != 0:
		return fmt.Errorf("thread %d did not take the filter", failed)
	}
	return nil
}
