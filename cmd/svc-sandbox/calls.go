package main

import "golang.org/x/sys/unix"

// allowed are the system calls that every command may make, on every processor. What is neither here
// nor checked in filter.go does not exist for it (ENOSYS), so that programs fall back as they do on an
// old kernel. Left out on purpose is what makes namespaces, mounts, keys, traces, kernel programs or
// rings, reads or writes other processes, sets clocks, or shares memory past the limits (System V).
var allowed = append([]uintptr{
	// files
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_LSEEK,
	unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_PREADV,
	unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2, unix.SYS_SENDFILE, unix.SYS_SPLICE,
	unix.SYS_TEE, unix.SYS_COPY_FILE_RANGE, unix.SYS_FTRUNCATE, unix.SYS_TRUNCATE, unix.SYS_FALLOCATE,
	unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_FADVISE64,
	unix.SYS_READAHEAD, unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS,
	unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64,
	unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT,
	unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_UTIMENSAT, unix.SYS_UMASK,
	unix.SYS_FCHOWNAT, unix.SYS_FCHOWN, unix.SYS_FLOCK, unix.SYS_FCNTL, unix.SYS_DUP, unix.SYS_DUP3,
	unix.SYS_PIPE2, unix.SYS_EVENTFD2, unix.SYS_MEMFD_CREATE, unix.SYS_GETXATTR, unix.SYS_LGETXATTR,
	unix.SYS_FGETXATTR, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR,
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_INOTIFY_RM_WATCH,

	// waiting
	unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL,
	unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_FUTEX, unix.SYS_FUTEX_WAITV, unix.SYS_GET_ROBUST_LIST, unix.SYS_SET_ROBUST_LIST,
	unix.SYS_RESTART_SYSCALL, unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME,
	unix.SYS_TIMERFD_GETTIME, unix.SYS_SIGNALFD4,

	// time
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES,
	unix.SYS_GETITIMER, unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_DELETE,
	unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETOVERRUN,

	// memory
	unix.SYS_BRK, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE,
	unix.SYS_MSYNC, unix.SYS_MINCORE, unix.SYS_MEMBARRIER, unix.SYS_MLOCK, unix.SYS_MUNLOCK,
	unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT, unix.SYS_RSEQ,
	unix.SYS_GET_MEMPOLICY, unix.SYS_GETRANDOM,

	// processes
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_WAIT4,
	unix.SYS_WAITID, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETPGID,
	unix.SYS_SETPGID, unix.SYS_GETSID, unix.SYS_SETSID, unix.SYS_SET_TID_ADDRESS,
	unix.SYS_PIDFD_OPEN, unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN,
	unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SIGALTSTACK,
	unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_GETPRIORITY, unix.SYS_IOPRIO_GET,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM,
	unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GETATTR, unix.SYS_SCHED_RR_GET_INTERVAL,
	unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_GETCPU,
	unix.SYS_UNAME, unix.SYS_SYSINFO,

	// who it is; without capabilities, none of these gives it anything
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETRESUID,
	unix.SYS_GETRESGID, unix.SYS_GETGROUPS, unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID,
	unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETGROUPS, unix.SYS_SETFSUID,
	unix.SYS_SETFSGID, unix.SYS_CAPGET, unix.SYS_CAPSET,

	// sockets, once socket or socketpair has given one
	unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_CONNECT,
	unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_SENDTO, unix.SYS_RECVFROM, unix.SYS_SENDMSG,
	unix.SYS_RECVMSG, unix.SYS_SENDMMSG, unix.SYS_RECVMMSG, unix.SYS_SHUTDOWN, unix.SYS_SETSOCKOPT,
	unix.SYS_GETSOCKOPT,

	// restricting itself further
	unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF,
}, allowedHere...)

// signals are the calls that send signals. They are refused where nothing keeps those within the
// sandbox.
var signals = []uintptr{
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_SEND_SIGNAL,
}

// neighbours are the calls that change a process, given by its number as the first argument, of the
// same user. Where the sandbox shares its numbers with the host they may name the caller only, by 0.
var neighbours = []uintptr{
	unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
	unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
}

// attributes are the calls that change a file's mode, owner or times without opening it, or with no more
// than the right to read it. Landlock does not judge them, so where nothing else does, a command could
// make the files of its user readable for everybody.
var attributes = append([]uintptr{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
}, attributesHere...)

// kinds are the calls that choose their processes in another way; they need process numbers of the
// sandbox's own.
var kinds = []uintptr{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET}
