package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/scanner/command"
)

// shells are what runs an approved command line, the first that is there: bash reads it as the analysis
// did.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/bin/sh"}

// runOnHost runs a command line that was approved as it stands. It has the rights of the service and
// nothing of its environment but the PATH.
func (w workspace) runOnHost(ctx context.Context, line string) (agents.Result, error) {
	if err := legible(line); err != nil {
		return agents.Result{}, err
	}
	t, err := w.open()
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = t.Close() }()
	shell, err := findShell()
	if err != nil {
		return agents.Result{}, err
	}
	out, err := execute(ctx, []string{shell, "-c", line}, surroundings{t.real, hostPath(os.Getenv("PATH"), t)}, nil, commandLimits)
	if err != nil {
		return agents.Result{}, err
	}
	return out.result(strings.NewReplacer()), nil
}

// legible refuses a line that people see otherwise than a shell does.
func legible(line string) error {
	switch {
	case len(line) > maxLine:
		return fmt.Errorf("the command is longer than %d bytes", maxLine)
	case !utf8.ValidString(line):
		return errors.New("the command is not valid UTF-8")
	}
	for _, r := range line {
		if r != '\t' && r != '\n' && !command.Visible(r) {
			return fmt.Errorf("the character %U is not allowed in a command", r)
		}
	}
	return nil
}

func findShell() (string, error) {
	for _, path := range shells {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errors.New("there is no shell on this host")
}

// hostPath is the PATH of an approved command: the service's own, without folders whose programs an
// agent could have written, and without those that depend on where a command runs.
func hostPath(own string, t *tree) string {
	var folders []string
	for _, dir := range filepath.SplitList(own) {
		if !filepath.IsAbs(dir) || within(filepath.Clean(dir), t.given) {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err != nil || within(real, t.real) {
			continue
		}
		folders = append(folders, dir)
	}
	if folders == nil {
		return searchPath
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}
