package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// maxDepth is how many folders deep the workspace is looked at.
const maxDepth = 32

// fill puts the request's files into the workspace.
func (in *insider) fill() error {
	var room int64
	for _, f := range in.req.Files {
		if room += int64(len(f.Content)); room > in.req.Limits.Workspace {
			return &wire.Fault{Part: wire.PartRequest, Text: fmt.Sprintf("the files for the workspace have more than the %d bytes that it may hold", in.req.Limits.Workspace)}
		}
		if err := in.put(f); err != nil {
			return &wire.Fault{Part: wire.PartRequest, Text: fmt.Sprintf("putting %s into the workspace: %v", f.Path, err)}
		}
	}
	return nil
}

func (in *insider) put(f wire.File) error {
	if dir := path.Dir(f.Path); dir != "." {
		if err := in.mkdirs(dir); err != nil {
			return err
		}
	}
	mode := os.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	w, err := in.work.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = w.Write(f.Content)
	if err == nil && os.Geteuid() == 0 {
		err = w.Chown(in.UID, in.GID)
	}
	return errors.Join(err, w.Close())
}

// mkdirs makes folders of the command's own.
func (in *insider) mkdirs(dir string) error {
	if d := path.Dir(dir); d != "." {
		if err := in.mkdirs(d); err != nil {
			return err
		}
	}
	err := in.work.Mkdir(dir, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err == nil && os.Geteuid() == 0 {
		err = in.work.Chown(dir, in.UID, in.GID)
	}
	return err
}

// found is a file of the workspace that is going to be sent.
type found struct {
	wire.File

	f *os.File
}

// send writes the report, with the workspace's files if they are wanted. Nobody changes them any more:
// all that the command has started is dead.
func (in *insider) send(report wire.Report) error {
	c := collector{room: in.req.Limits.Workspace, count: in.req.Limits.Files, left: &report.Left}
	defer c.close()
	if in.req.Collect && in.work != nil && report.Error == nil {
		fd, err := in.work.Open(".")
		if err == nil {
			var st unix.Stat_t
			if unix.Fstat(int(fd.Fd()), &st) == nil {
				c.device = st.Dev
				c.walk(int(fd.Fd()), "", 0)
			}
			_ = fd.Close()
		}
	}
	slices.SortFunc(c.files, func(a, b found) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range c.files {
		report.Files = append(report.Files, f.File)
	}
	if err := wire.WriteMessage(in.reply, wire.KindReport, report); err != nil {
		return err
	}
	for _, f := range c.files {
		if err := wire.WriteHeader(in.reply, wire.KindFile, f.Size); err != nil {
			return err
		}
		if _, err := io.CopyN(in.reply, f.f, f.Size); err != nil {
			return err
		}
	}
	return nil
}

// collector looks for the regular files below a folder. It follows no link and opens nothing else.
type collector struct {
	device uint64 // of the workspace: a bind in it is not part of it
	room   int64
	count  int
	files  []found
	left   *[]string
}

// walk opens what is in the folder dir, which is called name in the workspace.
func (c *collector) walk(dir int, name string, depth int) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		c.skip(name, "cannot be read")
		return
	}
	d := os.NewFile(uintptr(fd), name)
	defer func() { _ = d.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Dev != c.device {
		c.skip(name, "is not part of the workspace")
		return
	}
	entries, err := d.ReadDir(-1)
	if err != nil {
		c.skip(name, "cannot be read")
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		p := path.Join(name, e.Name())
		switch {
		case e.IsDir() && depth >= maxDepth:
			c.skip(p, "is too deep")
		case e.IsDir():
			sub, err := unix.Openat(fd, e.Name(), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err != nil {
				c.skip(p, "cannot be read")
				continue
			}
			c.walk(sub, p, depth+1)
			_ = unix.Close(sub)
		default:
			c.take(fd, e.Name(), p)
		}
	}
}

// take opens one file, if it is a regular one with room for it.
func (c *collector) take(dir int, base, p string) {
	if len(c.files) >= c.count {
		c.skip(p, "is one too many")
		return
	}
	fd, err := unix.Openat(dir, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		c.skip(p, "is not a regular file, or cannot be read")
		return
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Dev != c.device || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		c.skip(p, "is not a regular file")
		return
	}
	if st.Size > c.room {
		_ = unix.Close(fd)
		c.skip(p, "is too large")
		return
	}
	c.room -= st.Size
	c.files = append(c.files, found{wire.File{Path: p, Size: st.Size, Exec: st.Mode&0o111 != 0}, os.NewFile(uintptr(fd), p)})
}

// maxLeft is how many files that were not collected are named.
const maxLeft = 20

func (c *collector) skip(p, why string) {
	if len(*c.left) < maxLeft {
		*c.left = append(*c.left, p+" "+why)
	}
}

func (c *collector) close() {
	for _, f := range c.files {
		_ = f.f.Close()
	}
}
