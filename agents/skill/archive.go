package skill

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxArchive bounds the file; what comes out of it is bounded by itself.
const maxArchive = 4 << 20

// Open reads the files of a folder, or of an archive: .zip, .tar.gz or .tgz.
func Open(file string) ([]File, error) {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the skill: %w", err)
	case info.IsDir():
		return ReadFolder(file)
	case !info.Mode().IsRegular():
		return nil, &Mistake{File: file, Message: "it is neither a folder nor an archive: name the folder itself"}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading the skill: %w", err)
	}
	defer f.Close()
	packed, err := io.ReadAll(io.LimitReader(f, maxArchive+1))
	if err != nil {
		return nil, fmt.Errorf("reading the skill: %w", err)
	}
	return Unpack(file, packed)
}

// Unpack reads the files of an archive. If all of them lie in one folder, it is the skill's. Links, devices,
// paths that lead out of the archive and files with setuid are mistakes.
func Unpack(name string, packed []byte) ([]File, error) {
	if len(packed) > maxArchive {
		return nil, &Mistake{File: name, Message: fmt.Sprintf("the archive is larger than %d MiB: keep large data out of a skill", maxArchive>>20)}
	}
	var all []entry
	var err error
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".zip"):
		all, err = unzip(packed)
	case strings.HasSuffix(lower, ".tar.gz"), strings.HasSuffix(lower, ".tgz"):
		all, err = untar(packed)
	default:
		return nil, &Mistake{File: name, Message: "the ending of its name is not known: give a folder, or an archive .zip, .tar.gz or .tgz"}
	}
	if mistake, ok := errors.AsType[*Mistake](err); ok {
		mistake.File = name
		return nil, mistake
	}
	if err != nil {
		return nil, &Mistake{File: name, Message: fmt.Sprintf("the archive cannot be read (%v): pack it again", err)}
	}
	var c collection
	top := folderOf(all)
	for _, e := range all {
		where := name + ":" + e.path
		switch {
		case e.mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
			c.wrong(where, "it has setuid or setgid: chmod ug-s it, and pack it again")
		case !e.mode.IsRegular():
			c.wrong(where, "it is a link or a device: a skill has files and folders only")
		default:
			if err := c.add(where, File{Path: strings.TrimPrefix(e.path, top), Exec: e.mode&0o111 != 0, Content: e.content}); err != nil {
				return nil, err
			}
		}
	}
	return c.done()
}

// entry is a file of an archive.
type entry struct {
	path    string
	mode    fs.FileMode
	content []byte
}

// folderOf is the folder, with a slash, that all of an archive lies in; empty: there is no such one.
func folderOf(all []entry) string {
	var top string
	for i, e := range all {
		first, _, below := strings.Cut(e.path, "/")
		switch {
		case !below:
			return ""
		case i == 0:
			top = first
		case first != top:
			return ""
		}
	}
	if badPath(top) != "" {
		return ""
	}
	return top + "/"
}

// bounded counts what comes out of an archive.
type bounded struct {
	all   []entry
	bytes int
}

func (b *bounded) add(p string, mode fs.FileMode, r io.Reader) error {
	e := entry{path: strings.TrimPrefix(p, "./"), mode: mode}
	if mode.IsRegular() {
		var content bytes.Buffer
		n, err := content.ReadFrom(io.LimitReader(r, int64(maxBytes-b.bytes)+1))
		if err != nil {
			return err
		}
		b.bytes += int(n)
		e.content = content.Bytes()
	}
	if b.all = append(b.all, e); len(b.all) > maxFiles || b.bytes > maxBytes {
		return new(collection).full("")
	}
	return nil
}

func unzip(packed []byte) ([]entry, error) {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	var b bounded
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") && f.Mode().IsDir() {
			continue
		}
		content := io.NopCloser(strings.NewReader(""))
		if f.Mode().IsRegular() {
			if content, err = f.Open(); err != nil {
				return nil, err
			}
		}
		err := b.add(f.Name, f.Mode(), content)
		if err := errors.Join(err, content.Close()); err != nil {
			return nil, err
		}
	}
	return b.all, nil
}

// maxHeaders is what the headers and the padding of a tar archive may take.
const maxHeaders = 2 << 20

func untar(packed []byte) ([]entry, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var b bounded
	stream := &io.LimitedReader{R: z, N: maxBytes + maxHeaders}
	for t := tar.NewReader(stream); ; {
		h, err := t.Next()
		switch {
		case stream.N == 0:
			return nil, new(collection).full("")
		case errors.Is(err, io.EOF):
			return b.all, nil
		case err != nil:
			return nil, err
		case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		}
		mode := fs.FileMode(h.Mode) & fs.ModePerm
		if h.Mode&0o6000 != 0 {
			mode |= fs.ModeSetuid
		}
		if h.Typeflag != tar.TypeReg {
			mode |= fs.ModeIrregular
		}
		if err := b.add(h.Name, mode, t); err != nil {
			return nil, err
		}
	}
}
