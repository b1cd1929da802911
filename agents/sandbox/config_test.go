package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

// The attack: another user makes the folder that sockets and workspaces go into before the service does.
func TestFolderOfOthersRegression(t *testing.T) {
	base, err := os.MkdirTemp("", "f")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(base, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, link} {
		c := sandboxtest.Config(t, "svc-sandbox")
		c.Dir = dir
		if _, err := sandbox.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "others can change") {
			t.Errorf("%s: got %v", filepath.Base(dir), err)
		}
	}
}

// What a process that has died left behind goes when the next one starts; what is in use stays.
func TestSweep(t *testing.T) {
	c := sandboxtest.Config(t, "svc-sandbox")
	open := func() *sandbox.Box {
		box, err := sandbox.Open(t.Context(), c)
		sandboxtest.Check(t, "", err)
		return box
	}
	first := open()
	inUse, err := filepath.Glob(filepath.Join(c.Dir, "*"))
	if err != nil || len(inUse) != 1 {
		t.Fatalf("got %v, %v", inUse, err)
	}
	stale := filepath.Join(c.Dir, "svc-sandbox-0123456789abcdef")
	if err := os.MkdirAll(filepath.Join(stale, "work", "locked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(stale, "work", "locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	second := open()
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", stale, err)
	}
	if _, err := os.Stat(inUse[0]); err != nil {
		t.Errorf("what is in use was removed: %v", err)
	}
	first.Close()
	second.Close()
	if left, _ := os.ReadDir(c.Dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
