package analytics

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

const (
	firstPause = 100 * time.Millisecond // before the writer is started again
	lastPause  = 30 * time.Second       // the longest pause
	steady     = time.Minute            // after so long a writer that stops is a new trouble
	endTime    = 8 * time.Second        // how long the writer may take to end
	complaint  = 4 << 10                // bytes kept of what the writer says when it dies
)

// Reasons why the writer is not there, for the details of health.
const (
	reasonStopped = "writer_stopped"
	reasonVersion = "version"
)

// Serve starts the writer and starts it again when it stops, until Close. Without a helper, and a
// second time, it does nothing. While another process has a writer on the same folder, that one is
// used.
func (d *DB) Serve() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.missing != nil || d.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.stop, d.stopped = cancel, make(chan struct{})
	go func() {
		defer close(d.stopped)
		d.supervise(ctx)
	}()
}

// Close ends the writer that Serve started and waits for it.
func (d *DB) Close() error {
	d.mu.Lock()
	stop, stopped := d.stop, d.stopped
	d.stop = nil
	d.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
	return nil
}

// failed is why the writer is not there; nil when it is, or when nobody knows yet.
func (d *DB) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

func (d *DB) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = err
}

// supervise runs the writer again and again until ctx ends.
func (d *DB) supervise(ctx context.Context) {
	pause, troubled := firstPause, false
	for ctx.Err() == nil {
		begun := time.Now()
		err := d.runWriter(ctx, func(degraded []string) {
			d.note(nil)
			if troubled {
				troubled = false
				d.config.Trouble("", nil)
			}
			if len(degraded) > 0 {
				d.config.Log.Warn("the kernel lacks layers that confine the writer of the analytical database", zap.Strings("degraded", degraded))
			}
		})
		if ctx.Err() != nil {
			return
		}
		f, isFault := errors.AsType[*duckwire.Fault](err)
		switch {
		case isFault && f.Code == duckwire.CodeBusy: // it answers on the same socket
			d.whileAnswered(ctx)
			begun, pause = time.Now(), firstPause
		default:
			d.note(err)
			reason := reasonStopped
			if isFault && f.Code == duckwire.CodeVersion {
				reason = reasonVersion
			}
			troubled = true
			d.config.Trouble(reason, err)
		}
		if time.Since(begun) > steady {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// whileAnswered waits until nobody answers on the socket any more.
func (d *DB) whileAnswered(ctx context.Context) {
	for d.answers(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(firstPause):
		}
	}
}

// runWriter runs one writer until it ends, or ends it when ctx does. ready is called when it answers.
func (d *DB) runWriter(ctx context.Context, ready func(degraded []string)) (err error) {
	c := d.config
	cmd := exec.Command(c.Helper, duckwire.CommandWrite) // it ends with its input, not with a signal
	cmd.Env, cmd.SysProcAttr = []string{"TZ=UTC"}, ownGroup()
	said := &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the writer: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the writer: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the writer: %w", err)
	}
	ended := make(chan struct{})
	ending := make(chan struct{})
	go func() {
		defer close(ending)
		select {
		case <-ended:
		case <-ctx.Done():
			_ = in.Close()
			select {
			case <-ended:
			case <-time.After(endTime):
				_ = cmd.Process.Kill()
			}
		}
	}()
	first := d.greet(in, out, ready)
	_, _ = io.Copy(io.Discard, out)
	waited := cmd.Wait()
	close(ended)
	<-ending
	switch {
	case first != nil:
		return first
	case waited != nil:
		return fmt.Errorf("the writer stopped: %w: %s", waited, said)
	}
	return errors.New("the writer stopped")
}

// greet tells the writer what to do and waits until it is ready.
func (d *DB) greet(in io.Writer, out io.Reader, ready func(degraded []string)) error {
	c := d.config
	task := duckwire.Writer{
		Version: compat.Version, Folder: c.Folder, Snapshots: c.Snapshots, Socket: c.Socket, Lock: c.Lock, Memory: c.Memory, Threads: c.Threads,
	}
	if err := json.NewEncoder(in).Encode(task); err != nil {
		return fmt.Errorf("telling the writer what to do: %w", err)
	}
	line, err := bufio.NewReader(io.LimitReader(out, complaint)).ReadBytes('\n')
	if err != nil {
		return nil // how it ended says more
	}
	var r duckwire.Ready
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("reading what the writer says: %w", err)
	}
	if err := compat.Check(r.Version); err != nil {
		return duckwire.Faultf(duckwire.CodeVersion, "%v", err)
	}
	if r.Fault != nil {
		return r.Fault
	}
	ready(r.Degraded)
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - complaint; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(bytes.ToValidUTF8(t.text, nil))) }
