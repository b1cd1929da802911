// Package ducktest builds the helper svc-duck for tests.
//
//	helper := ducktest.Helper(t)
//
// The environment variable SVC_DUCK names one that is there already. [Helper] is safe for concurrent
// use, and so is [Build]; they build once in a test binary.
package ducktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Build returns the path of the helper program, which it builds where that is needed.
func Build() (string, error) { return built() }

var built = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("SVC_DUCK"); given != "" {
		if !filepath.IsAbs(given) {
			return "", errors.New("SVC_DUCK must be an absolute path")
		}
		return given, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "svc-test")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// Test binaries run side by side, and each puts the same program in the same place.
	program := filepath.Join(dir, fmt.Sprintf("svc-duck-%d", os.Getpid()))
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "github.com/svc-gateway/svc/cmd/svc-duck")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building svc-duck: %w\n%s", err, out)
	}
	final := filepath.Join(dir, "svc-duck")
	return final, os.Rename(program, final)
})

// Helper returns the path of the helper program. Tests of a machine for which it is not built are
// skipped.
func Helper(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("svc-duck is built for Linux")
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}
