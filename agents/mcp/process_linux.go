package mcp

import "syscall"

// dependent is a program in a group of its own that the kernel ends when this process is gone.
func dependent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
