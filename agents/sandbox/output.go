package sandbox

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/internal/plaintext"
)

// flood is how much a program may print before it is stopped, when keep is what is kept of it.
func flood(keep int) int64 { return max(16*int64(keep), 1<<20) }

// output keeps the beginning of what a program prints.
type output struct {
	keep  int
	live  io.Writer // gets all of it, and nothing is kept; nil: nobody does
	stop  func()    // called once, when far too much is printed, or nobody takes it
	once  sync.Once
	text  []byte
	total int64
}

// drain reads to the end.
func (o *output) drain(r *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		o.write(buf[:n])
		if err != nil { // io.EOF, or the deadline for a pipe that somebody holds open
			return
		}
	}
}

func (o *output) write(b []byte) {
	if o.live != nil {
		if _, err := o.live.Write(b); err != nil {
			o.once.Do(o.stop)
		}
		return
	}
	o.total += int64(len(b))
	if room := o.keep - len(o.text); room > 0 {
		o.text = append(o.text, b[:min(len(b), room)]...)
	}
	if o.total > flood(o.keep) {
		o.once.Do(o.stop)
	}
}

func (o *output) truncated() bool { return o.total > int64(len(o.text)) }

// String makes text of what was kept: a character that was cut at the end goes, and what is not UTF-8,
// or what a terminal would obey, becomes U+FFFD.
func (o *output) String() string {
	b := o.text
	if o.truncated() {
		b = plaintext.Whole(b)
	}
	return plaintext.Clean(b)
}

// tail keeps the beginning of what the helper itself says of its troubles.
type tail struct {
	mu   sync.Mutex
	text []byte
}

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - len(t.text); room > 0 {
		t.text = append(t.text, b[:min(len(b), room)]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
