// Package helper finds the programs that the service starts and that are installed beside it.
//
// Find is safe for concurrent use.
package helper

import (
	"fmt"
	"os"
	"path/filepath"
)

// Find returns the path of the helper program name: what the setting says, or the place beside the running
// program where that says nothing. The error says why it cannot be run, and what to do.
func Find(name, setting, set string) (string, error) {
	path, hint := set, fmt.Sprintf("set %s to its path", setting)
	if path == "" {
		program, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("finding the program's own folder: %w", err)
		}
		path, hint = filepath.Join(filepath.Dir(program), name), fmt.Sprintf("install %s there, or set %s to its path", name, setting)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("there is no helper program %s: %s, and restart a service that is running", path, hint)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("%s is not a program: %s, and restart a service that is running", path, hint)
	}
	return path, nil
}
