package main

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// foreignFrom is the first number of the x32 calls, which have the same architecture.
	foreignFrom = 0x40000000
)

// allowedHere are the calls that arm64 does not have: older forms of others.
var allowedHere = []uintptr{
	unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_GETDENTS,
	unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_LINK,
	unix.SYS_SYMLINK, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_CHOWN,
	unix.SYS_LCHOWN, unix.SYS_NEWFSTATAT, unix.SYS_DUP2, unix.SYS_PIPE, unix.SYS_EVENTFD,
	unix.SYS_INOTIFY_INIT, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT,
	unix.SYS_SIGNALFD, unix.SYS_ALARM, unix.SYS_PAUSE, unix.SYS_TIME, unix.SYS_FORK, unix.SYS_VFORK,
	unix.SYS_GETPGRP, unix.SYS_ARCH_PRCTL, unix.SYS_SETRLIMIT,
}

// older are the forms of calls with checked arguments that arm64 does not have.
var older = map[uintptr]check{
	unix.SYS_OPEN:  opens{flags: 1, mode: 2},
	unix.SYS_CREAT: modes{1},
	unix.SYS_CHMOD: modes{1},
	unix.SYS_MKNOD: modes{1},
}

var attributesHere = []uintptr{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}
