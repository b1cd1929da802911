package analytics

import "syscall"

// ownGroup keeps a child out of what a terminal signals.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// dependent is a child that the kernel kills when this process is gone.
func dependent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
