package main

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// foreignFrom is a number that no call has: 32-bit calls have an architecture of their own.
	foreignFrom = 1 << 31
)

var allowedHere = []uintptr{unix.SYS_FSTATAT, unix.SYS_SETRLIMIT, unix.SYS_RENAMEAT}

var older map[uintptr]check

var attributesHere []uintptr
