//go:build linux

package main

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForgetOnATerminal types ahead, before anything reads the terminal.
func TestForgetOnATerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	defer terminal.Close()
	k := newKeyboard(terminal)
	if _, err := master.WriteString("y\nyes"); err != nil {
		t.Fatal(err)
	}
	since := k.forget()
	if _, err := master.WriteString("n\n"); err != nil {
		t.Fatal(err)
	}
	if line := <-k.lines(); line.text != "n" || line.at.Before(since) {
		t.Errorf("got %q, want n", line.text)
	}
}
