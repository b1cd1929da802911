//go:build unix && !linux

package analytics

import "syscall"

// ownGroup keeps a child out of what a terminal signals.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// dependent is a child that ends by itself when its input does.
func dependent() *syscall.SysProcAttr { return ownGroup() }
