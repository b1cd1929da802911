//go:build cgo && linux

package main

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_AARCH64

// allowedHere are the calls that this machine has beside the common ones.
var allowedHere = []uint32{unix.SYS_FSTATAT}

var checkedHere []check
