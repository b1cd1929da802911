// Package files reads the rule files of a folder.
//
//	sources, err := files.Read(home.Policies())
//	engine, err := policy.New(sources...)
//
// The rule files are those whose name ends in .yaml, but not in _test.yaml, in the order of their
// names. A folder that is not there has none. Nothing is kept, so the functions may be called by many
// goroutines.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/policy"
)

// maxBytes is more than a rule file may have; the rest of a larger one is not read.
const maxBytes = 1 << 20

// TestSuffix ends the names of files with cases for service policy test, which may lie beside the
// rule files.
const TestSuffix = "_test.yaml"

// Read returns the rule files of a folder. A file that looks like one and would not be read is an
// error: rules that are silently not there are worse than none.
func Read(dir string) ([]policy.Source, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the rule files: %w", err)
	}
	var all []policy.Source
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, TestSuffix), strings.HasSuffix(name, "~"):
			continue
		case strings.HasSuffix(name, ".yaml"):
		case strings.EqualFold(filepath.Ext(name), ".yaml"), strings.EqualFold(filepath.Ext(name), ".yml"):
			return nil, fmt.Errorf("reading the rule files: %s: rule files end in .yaml: rename it", path)
		default:
			continue
		}
		s, err := One(path)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// One returns the rule file at a path.
func One(path string) (policy.Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return policy.Source{}, fmt.Errorf("reading a rule file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return policy.Source{}, fmt.Errorf("reading a rule file: %s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return policy.Source{}, fmt.Errorf("reading a rule file: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxBytes))
	if err = errors.Join(err, f.Close()); err != nil {
		return policy.Source{}, fmt.Errorf("reading a rule file: %w", err)
	}
	return policy.Source{Name: path, Text: text}, nil
}
