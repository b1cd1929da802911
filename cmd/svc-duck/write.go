//go:build cgo && linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

const (
	// lastRequests is how long requests may still take when the writer ends.
	lastRequests = 4 * time.Second
	// sweepInterval is how often generations are looked at that were in use.
	sweepInterval = 30 * time.Second
	// headerTime is how long the head of a request may take.
	headerTime = 10 * time.Second
)

// write serves as the writer until in ends, which is when the process that started it does.
func write(in io.Reader, out io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := bufio.NewReader(in)
	err := serve(ctx, r, out, func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, r)
	})
	if err == nil {
		return 0
	}
	f, ok := errors.AsType[*duckwire.Fault](err)
	if !ok {
		f = duckwire.Faultf(duckwire.CodeUnavailable, "%v", err)
	}
	say(out, duckwire.Ready{Version: compat.Version, Fault: f})
	if f.Code == duckwire.CodeBusy {
		return duckwire.ExitBusy
	}
	return 1
}

// serve takes possession of the folder, opens the database and answers until ctx ends. follow runs
// once the writer is ready and waits for the end of the input.
func serve(ctx context.Context, in *bufio.Reader, out io.Writer, follow func()) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading what to do: %w", err)
	}
	var c duckwire.Writer
	if err := json.Unmarshal(line, &c); err != nil {
		return duckwire.Faultf(duckwire.CodeBadRequest, "reading what to do: %v", err)
	}
	if err := compat.Check(c.Version); err != nil {
		return duckwire.Faultf(duckwire.CodeVersion, "%v", err)
	}
	unlock, err := claim(c.Lock)
	if err != nil {
		return err
	}
	defer unlock()
	for _, dir := range []string{c.Folder, c.Snapshots} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
	}
	socket, err := bind(c.Socket)
	if err != nil {
		return err
	}
	defer socket.Close()
	if err := limit(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("limiting the core size: %w", err)
	}
	// What is parsed here was written by others: a file that breaks a parser reaches these folders only.
	degraded, err := confineFiles(landlock.RWDirs(c.Folder, c.Snapshots))
	if err != nil {
		return err
	}
	w, err := openWriter(c)
	if err != nil {
		return err
	}
	listener, err := listen(socket)
	if err != nil {
		return errors.Join(err, w.close())
	}
	server := &http.Server{Handler: w.handler(), ReadHeaderTimeout: headerTime}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	say(out, duckwire.Ready{Version: compat.Version, Degraded: degraded})
	go follow()

	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
	for {
		select {
		case err = <-served: // only if it cannot accept any more
			return errors.Join(err, w.close())
		case <-sweep.C:
			w.sweep()
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.Background(), lastRequests)
			defer cancel()
			err = server.Shutdown(last)
			if errors.Is(err, context.DeadlineExceeded) {
				err = server.Close() // an import is rolled back
			}
			return errors.Join(err, w.close())
		}
	}
}

// claim takes the lock of the only writer. The kernel gives it back when the process ends.
func claim(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = duckwire.Faultf(duckwire.CodeBusy, "another writer has %s", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// bind makes the socket, for its owner only. One that is left over from another writer is removed:
// whoever has the lock is the only one. The folder of the socket cannot be written to later.
func bind(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("removing the old socket: %w", err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making the socket: %w", err)
	}
	socket := os.NewFile(uintptr(fd), path)
	old := unix.Umask(0o177)
	defer unix.Umask(old)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return nil, errors.Join(fmt.Errorf("binding the socket: %w", err), socket.Close())
	}
	return socket, nil
}

// listen lets clients connect. Until then they find that nobody listens, and wait.
func listen(socket *os.File) (net.Listener, error) {
	if err := unix.Listen(int(socket.Fd()), unix.SOMAXCONN); err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	l, err := net.FileListener(socket)
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return l, nil
}

// databasePath is the live file in the writer's folder.
func databasePath(folder string) string { return filepath.Join(folder, duckwire.DatabaseFile) }
