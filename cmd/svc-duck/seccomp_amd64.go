//go:build cgo && linux

package main

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_X86_64

// allowedHere are the calls that this machine has beside the common ones. The calls of the x32 ABI
// have numbers of their own, which are not among them.
var allowedHere = []uint32{
	unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_NEWFSTATAT, unix.SYS_GETDENTS,
	unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_PIPE, unix.SYS_ARCH_PRCTL, unix.SYS_TIME,
}

var checkedHere = []check{{unix.SYS_OPEN, 1, none, writing}}
