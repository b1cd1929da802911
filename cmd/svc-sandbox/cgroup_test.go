package main

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

func TestMountedAt(t *testing.T) {
	const (
		one = `30 20 0:25 / /sys/fs/cgroup rw - tmpfs tmpfs rw
31 30 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
		two       = "30 20 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
		container = "30 20 0:25 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	)
	for _, tc := range []struct {
		name, mounts, place string
		controllers         []string
		two                 bool
		want                string
	}{
		{"version 1", one, "/user", []string{"memory"}, false, "/sys/fs/cgroup/memory/user"},
		{"version 1, the root", one, "/", []string{"memory"}, false, "/sys/fs/cgroup/memory"},
		{"a controller that is not mounted", one, "/", []string{"pids"}, false, ""},
		{"both versions", one, "/", []string{""}, true, "/sys/fs/cgroup/unified"},
		{"version 2", two, "/system.slice/svc.service/service", []string{""}, true, "/sys/fs/cgroup/system.slice/svc.service/service"},
		{"a part that is mounted", container, "/docker/abc/svc", []string{""}, true, "/sys/fs/cgroup/svc"},
		{"another part", container, "/docker/def", []string{""}, true, ""},
	} {
		if got := mountedAt([]byte(tc.mounts), tc.place, tc.controllers, tc.two); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// With version 2 a group goes beside that of the service, if the one around both is delegated and
// distributes memory, and else into it.
func TestGroupOfVersionTwo(t *testing.T) {
	parent := t.TempDir()
	h := hierarchy{dir: filepath.Join(parent, "service"), two: true}
	if err := os.Mkdir(h.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, controllers := h.make("new")
	if want := filepath.Join(h.dir, "new"); dir != want || len(controllers) != 0 {
		t.Errorf("without controllers: got %s with %v, want %s", dir, controllers, want)
	}
	if _, err := os.Stat(filepath.Join(parent, "new")); !os.IsNotExist(err) {
		t.Errorf("the group beside was not removed: %v", err)
	}
	g := groups{memory: dir, tasks: dir, two: true}
	g.limit(wire.Limits{Memory: 1 << 20, Processes: 10})
	for file, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "pids.max": "26"} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %s", file, got, err, want)
		}
	}
	if g.oom() {
		t.Error("memory was used up before anything ran")
	}
	if err := os.WriteFile(filepath.Join(dir, "memory.events"), []byte("low 0\noom 1\noom_kill 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !g.oom() {
		t.Error("memory.events is not read")
	}
}

// A group that is locked is in use, whoever asks.
func TestSweepLeavesWhatIsLocked(t *testing.T) {
	dir := t.TempDir()
	used, stale := filepath.Join(dir, "used"), filepath.Join(dir, "stale")
	for _, d := range []string{used, stale} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := locked(used, unix.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	sweepGroup(used, false)
	sweepGroup(stale, false)
	if _, err := os.Stat(used); err != nil {
		t.Errorf("what is in use was removed: %v", err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("what is not in use stays: %v", err)
	}
}
