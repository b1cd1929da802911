//go:build unix && !linux

package mcp

import "syscall"

// dependent is a program in a group of its own, which ends by itself when its input does.
func dependent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
