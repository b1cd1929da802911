package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// ReadFolder reads the regular files of a folder, as many as a workspace of the Box holds, for
// [Spec.Files]. Links are left out.
func (b *Box) ReadFolder(dir string) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the folder for the workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	var files []File
	var size int64
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		if size > b.config.Limits.Workspace || len(files) >= b.config.Limits.Files {
			return specf("%s has more than the %d bytes or %d files that a workspace holds: see sandbox.workspace_size and sandbox.files",
				dir, b.config.Limits.Workspace, b.config.Limits.Files)
		}
		content, err := root.ReadFile(p)
		if err != nil {
			return err
		}
		files = append(files, File{Path: p, Size: int64(len(content)), Exec: info.Mode()&0o111 != 0, Content: content})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the folder for the workspace: %w", err)
	}
	return files, nil
}

// WriteFolder writes the files of a [Result] to a folder, which it makes if it is missing. Files with
// the same content stay as they are. No link in the folder leads it out.
func WriteFolder(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the workspace's files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("writing the workspace's files: %w", err)
	}
	defer func() { _ = root.Close() }()
	var errs []error
	for _, f := range files {
		if err := writeFile(root, f); err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", f.Path, err))
		}
	}
	return errors.Join(errs...)
}

func writeFile(root *os.Root, f File) error {
	if !filepath.IsLocal(f.Path) {
		return errors.New("it is not within the workspace")
	}
	info, err := root.Lstat(f.Path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("there is something else of that name")
	case err == nil && info.Size() == f.Size:
		if old, err := root.ReadFile(f.Path); err == nil && bytes.Equal(old, f.Content) {
			return nil
		}
	}
	if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	return root.WriteFile(f.Path, f.Content, mode)
}
