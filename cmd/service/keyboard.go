package main

import (
	"bufio"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// keyboard is where lines are typed, or come from otherwise.
type keyboard struct {
	lines    func() <-chan typed // closed at the end of the input
	terminal *os.File            // nil when the input is none
}

// typed is a line and when it was there.
type typed struct {
	text string
	at   time.Time
}

// newKeyboard gives the lines of an input. Reading begins with the first call of lines and ends with the
// input or the program: a read of a terminal cannot be cancelled.
func newKeyboard(in io.Reader) keyboard {
	var k keyboard
	if isTerminal(in) {
		k.terminal = in.(*os.File)
	}
	k.lines = sync.OnceValue(func() <-chan typed {
		lines := make(chan typed)
		go func() {
			defer close(lines)
			for s := bufio.NewScanner(in); s.Scan(); {
				lines <- typed{s.Text(), time.Now()}
			}
		}()
		return lines
	})
	return k
}

// forget discards what was typed so far, and returns the time from which on a line answers what is asked
// now: whoever typed before saw something else, which may have been a model's imitation of the question.
// What a file or a pipe holds answers whatever is asked.
func (k keyboard) forget() (since time.Time) {
	if k.terminal == nil {
		return time.Time{}
	}
	_ = unix.IoctlSetInt(int(k.terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH) // it is gone: there is no answer either
	return time.Now()
}
