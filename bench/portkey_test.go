package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestInstalled(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder) // there is no npm in it
	if err := installed(t.Context(), folder); err == nil || errors.Is(err, errNotHere) {
		t.Errorf("without a lock: got %v, want an error that does not leave the part out", err)
	}
	lock, have := filepath.Join(folder, "package-lock.json"), filepath.Join(folder, "node_modules", ".package-lock.json")
	if err := os.Mkdir(filepath.Dir(have), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{lock, have} {
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	for age, want := range map[time.Duration]error{0: nil, time.Hour: errNotHere} {
		if err := errors.Join(os.Chtimes(lock, now, now), os.Chtimes(have, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
		if err := installed(t.Context(), folder); !errors.Is(err, want) {
			t.Errorf("packages that are %s older than the lock: got %v, want %v", age, err, want)
		}
	}
}
