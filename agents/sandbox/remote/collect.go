package remote

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/internal/plaintext"
)

// maxCollected is how much of a workspace comes back: it is in memory here.
const maxCollected = 16 << 20

// collect fetches how a program went, in the time that is left until then, or in a short one.
func (b *Box) collect(ctx context.Context, box Sandbox, j job, timedOut bool, then time.Time) (sandbox.Result, error) {
	name := b.config.Provider.Name()
	r := sandbox.Result{Exit: -1, Signal: "SIGKILL", TimedOut: timedOut, Files: []sandbox.File{}, Where: name, Degraded: []string{ProviderLimits}}
	if !j.offline {
		r.Degraded = append(r.Degraded, NoEgressRecord)
	}
	slices.Sort(r.Degraded)
	limit := 2*int64(j.keep) + 64<<10
	if j.collect {
		limit += min(b.config.Limits.Workspace, maxCollected) + 1024*int64(min(b.config.Limits.Files, 4096))
	}
	if least := time.Now().Add(collecting); timedOut || then.Before(least) {
		then = least
	}
	short, cancel := context.WithDeadline(ctx, then)
	defer cancel()
	packed, err := b.fetch(short, box, j, limit)
	switch {
	case ctx.Err() != nil:
		return sandbox.Result{}, fmt.Errorf("running %s: %w", j.args[0], ctx.Err())
	case err != nil && timedOut:
		b.log("the output of a program that was stopped did not come", box.ID(), err)
		r.Truncated, r.Left = true, []string{"all of it: it did not come within " + collecting.String()}
		return r, nil
	case err != nil:
		b.log("the result of a program did not come", box.ID(), err)
		return sandbox.Result{}, fmt.Errorf("the program has run in a sandbox of %s, and its result did not come; the sandbox is being deleted: %w", name, err)
	}
	if err := b.unpack(&r, j, packed); err != nil {
		return sandbox.Result{}, &sandbox.Unavailable{Reason: fmt.Sprintf("the sandbox of %s answered with something else than a result: %v", name, err)}
	}
	return r, nil
}

func (b *Box) fetch(ctx context.Context, box Sandbox, j job, limit int64) ([]byte, error) {
	exit, err := box.Exec(ctx, j.packLine(limit))
	if err == nil && exit != 0 {
		err = fmt.Errorf("packing it ended with %d", exit)
	}
	if err != nil {
		return nil, err
	}
	return box.Get(ctx, j.out(), limit)
}

// unpack reads the archive of a result. Anybody may have written it: nothing in it is a path here, and
// all of it is bounded by its size.
func (b *Box) unpack(r *sandbox.Result, j job, packed []byte) error {
	t := tar.NewReader(bytes.NewReader(packed))
	seen := map[string]bool{}
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) || err != nil && seen["exit"] {
			if err != nil && !errors.Is(err, io.EOF) {
				r.Left = append(r.Left, tooMuch)
			}
			break
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(t)
		if err != nil {
			if !seen["exit"] {
				return err
			}
			r.Left = append(r.Left, tooMuch)
			break
		}
		if inside, ok := strings.CutPrefix(h.Name, "workspace/"); ok {
			b.addFile(r, h, inside, content)
			continue
		}
		if h.Typeflag != tar.TypeReg || seen[h.Name] {
			continue
		}
		seen[h.Name] = true
		switch h.Name {
		case "out":
			r.Stdout = text(r, content, j.keep)
		case "err":
			r.Stderr = text(r, content, j.keep)
		case "exit":
			if err := ended(r, content); err != nil {
				return err
			}
		}
	}
	if !seen["exit"] || !seen["out"] || !seen["err"] {
		return errors.New("a part is missing")
	}
	slices.SortFunc(r.Files, func(a, b sandbox.File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

var tooMuch = fmt.Sprintf("the rest: of a remote workspace, %d bytes come back at most", maxCollected)

// addFile adds a file of the workspace, or says why it does not.
func (b *Box) addFile(r *sandbox.Result, h *tar.Header, path string, content []byte) {
	path = filepath.Clean(strings.TrimSuffix(path, "/"))
	switch {
	case h.Typeflag == tar.TypeDir:
	case !filepath.IsLocal(path) || plaintext.Clean([]byte(path)) != path:
		r.Left = append(r.Left, "a file with a name that cannot be used here")
	case h.Typeflag != tar.TypeReg:
		r.Left = append(r.Left, path+": not a regular file")
	case len(r.Files) >= b.config.Limits.Files:
		if n := len(r.Left); n == 0 || r.Left[n-1] != moreFiles {
			r.Left = append(r.Left, moreFiles)
		}
	default:
		r.Files = append(r.Files, sandbox.File{Path: path, Size: int64(len(content)), Exec: h.Mode&0o111 != 0, Content: content})
	}
}

const moreFiles = "more files than sandbox.files"

// text is what was printed, at most keep bytes of it.
func text(r *sandbox.Result, content []byte, keep int) string {
	if len(content) > keep {
		r.Truncated = true
		content = plaintext.Whole(content[:keep])
	}
	return plaintext.Clean(content)
}

// ended reads the status with which sh saw the program end; it is empty when the program was stopped. A
// signal is 128 and its number, which a program can also exit with.
func ended(r *sandbox.Result, content []byte) error {
	status := strings.TrimSpace(string(content))
	if status == "" {
		if !r.TimedOut {
			return errors.New("the program did not end, and was not stopped from here")
		}
		return nil
	}
	n, err := strconv.Atoi(status)
	if err != nil || n < 0 || n > 255 {
		return errors.New("there is no exit code")
	}
	if name := unix.SignalName(syscall.Signal(n - 128)); n > 128 && name != "" {
		r.Exit, r.Signal = -1, name
		return nil
	}
	r.Exit, r.Signal = n, ""
	return nil
}
