package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// The log of a service that runs for long is rotated by Caddy's own file writer: no line is lost or
// cut, the old files hold no credential either, and nobody else can read them.
func TestLogRotation(t *testing.T) {
	const token = "svc_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghi"
	dir := t.TempDir()
	config := fmt.Sprintf(`{"admin": {"disabled": true}, "logging": {"logs": {"default": {
		"writer": {"output": "file", "filename": %q, "roll_size_mb": 1, "roll_gzip": false, "roll_keep": 10},
		"encoder": {"format": "svc"}, "include": ["rotation"]}}}}`, filepath.Join(dir, "service.log"))
	t.Cleanup(func() { _ = caddy.Stop() })
	if err := caddy.Load([]byte(config), true); err != nil {
		t.Fatal(err)
	}
	const lines = 1200
	pad := strings.Repeat("all is well ", 200)
	for n := range lines {
		caddy.Log().Named("rotation").Info(pad, zap.Int("n", n), zap.String("header", "Authorization: Bearer "+token))
	}
	if err := caddy.Stop(); err != nil { // closes the file
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("got the files %v, %v, want at least three", files, err)
	}
	seen := map[int]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v, want 600", file, info.Mode(), err)
		}
		if bytes.Contains(text, []byte(token)) {
			t.Errorf("%s has the token", file)
		}
		for line := range bytes.Lines(text) {
			var entry struct{ N int }
			if err := json.Unmarshal(line, &entry); err != nil || seen[entry.N] {
				t.Fatalf("%s: got the line %.60s, %v, want each once and whole", file, line, err)
			}
			seen[entry.N] = true
		}
	}
	if len(seen) != lines {
		t.Errorf("got %d lines, want %d", len(seen), lines)
	}
}
