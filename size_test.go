package svc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What one package may have, without its tests. A larger one is several: somebody who looks for
// something in it has to know all of it.
const (
	maxFiles = 60
	maxLines = 7000
)

func TestPackagesAreSmall(t *testing.T) {
	for _, p := range repository(t) {
		files, lines := sizeOf(t, p.Dir)
		if files > maxFiles || lines > maxLines {
			t.Errorf("%s has %d files with %d lines, at most %d with %d are readable: find a part of it that stands alone",
				p.name(), files, lines, maxFiles, maxLines)
		}
	}
}

// sizeOf counts the Go files of a folder and their lines, whatever system they are built for.
func sizeOf(t *testing.T, dir string) (files, lines int) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files++
		lines += bytes.Count(text, []byte("\n"))
	}
	return files, lines
}
