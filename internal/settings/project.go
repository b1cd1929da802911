package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ProjectRoot gives the folder that file tools work in, with links resolved. configured is the
// setting runtime.project_root; when it is empty, started is taken, the folder that the service
// was started in; when that is /, empty or in the data folder, the data folder's workspace.
func ProjectRoot(configured, started string, h Home) (string, error) {
	if configured == "" {
		root, err := resolve(started)
		if err != nil || root == "/" || h.Hides(root) {
			if root, err = resolve(h.Workspace()); err != nil {
				return h.Workspace(), nil // not created yet
			}
		}
		return root, nil
	}
	root, err := resolve(configured)
	if err != nil {
		return "", fmt.Errorf("runtime.project_root: %w", err)
	}
	if root == "/" {
		return "", errors.New("runtime.project_root: the whole file system cannot be the project root: name a folder in it")
	}
	if h.Hides(root) {
		return "", fmt.Errorf("runtime.project_root: %s is in the data folder, which no tool may reach: use another folder, or %s", root, h.Workspace())
	}
	return root, nil
}

// Hides reports whether path is in the data folder and not in its workspace. No tool may touch
// such a path, also where the project root contains the data folder. path is absolute and has
// its links resolved.
func (h Home) Hides(path string) bool {
	dir, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		dir = h.dir
	}
	return within(dir, path) && !within(filepath.Join(dir, "workspace"), path)
}

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// resolve follows links and makes sure that path is a folder.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("no folder is given")
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", path)
	}
	return resolved, nil
}
