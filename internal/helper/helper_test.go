package helper_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/helper"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	program, text := filepath.Join(dir, "program"), filepath.Join(dir, "text")
	for path, mode := range map[string]os.FileMode{program: 0o755, text: 0o644} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct{ set, err string }{
		"a program":    {program, ""},
		"not for use":  {text, text + " is not a program: set x.helper to its path"},
		"a folder":     {dir, dir + " is not a program"},
		"nothing":      {dir + "/none", "there is no helper program " + dir + "/none: set x.helper"},
		"not set":      {"", "/svc-x: install svc-x there, or set x.helper to its path, and restart a service that is running"},
		"a file's way": {program + "/none", "there is no helper program"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := helper.Find("svc-x", "x.helper", tc.set)
			if tc.err == "" && (err != nil || got != tc.set) {
				t.Errorf("got %q, %v", got, err)
			}
			if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
		})
	}
}
