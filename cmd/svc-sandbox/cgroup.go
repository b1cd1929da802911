package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// groups are the control groups of one sandbox: on a host with version 1 one for each controller, on
// one with version 2 a single one. What a host does not let this process make is left out.
type groups struct {
	memory, tasks string   // folders that limit these; empty where nothing does
	unified       string   // folder of version 2, which ends all in it at once
	two           bool     // memory is of version 2
	all           []string // folders, each once
	locks         []*os.File
}

const groupPrefix = "svc-sandbox-"

// newGroups makes groups without limits yet.
func newGroups() groups {
	var g groups
	if off(layerCgroup) {
		return g
	}
	name := groupPrefix + rand.Text()
	for _, h := range hierarchies() {
		dir, controllers := h.make(name)
		if dir == "" {
			continue
		}
		lock, err := locked(dir, unix.LOCK_SH)
		if err != nil {
			_ = os.Remove(dir)
			continue // somebody sweeps, in the moment before it has the lock
		}
		g.locks = append(g.locks, lock)
		g.all = append(g.all, dir)
		if h.two {
			g.unified = dir
		}
		if slices.Contains(controllers, "memory") {
			g.memory, g.two = dir, h.two
		}
		if slices.Contains(controllers, "pids") {
			g.tasks = dir
		}
	}
	return g
}

// locked opens a folder and locks it. Whoever makes a group holds a lock on it as long as it lives, so
// that others can tell, also those who know this process by another number.
func locked(dir string, how int) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// limit sets limits. A controller that does not take them is missing.
func (g *groups) limit(l wire.Limits) {
	if g.memory != "" && g.limitMemory(g.memory, g.two, l.Memory) != nil {
		g.memory = ""
	}
	if g.tasks != "" && put(g.tasks, "pids.max", int64(l.Processes)+helperTasks) != nil {
		g.tasks = ""
	}
}

// helperTasks is room for the threads of the first process in the sandbox, beside the command's.
const helperTasks = 16

func (g *groups) limitMemory(dir string, two bool, bytes int64) error {
	if two {
		_ = put(dir, "memory.swap.max", 0) // a host without swap accounting does not have it
		return put(dir, "memory.max", bytes)
	}
	err := put(dir, "memory.limit_in_bytes", bytes)
	_ = put(dir, "memory.memsw.limit_in_bytes", bytes)
	_ = put(dir, "memory.swappiness", 0)
	return err
}

func put(dir, file string, n int64) error {
	return os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, n, 10), 0o644)
}

// add moves a process, which has not started any other, into the groups.
func (g groups) add(pid int) error {
	for _, dir := range g.all {
		if err := put(dir, "cgroup.procs", int64(pid)); err != nil {
			return fmt.Errorf("moving the sandbox into its control group: %w", err)
		}
	}
	return nil
}

// missing says what the groups do not limit.
func (g groups) missing() []string {
	var m []string
	if g.memory == "" {
		m = append(m, wire.NoMemoryGroup)
	}
	if g.tasks == "" {
		m = append(m, wire.NoProcessGroup)
	}
	return m
}

// oom reports whether the kernel has ended a process for want of memory.
func (g groups) oom() bool {
	if g.memory == "" {
		return false
	}
	file := "memory.oom_control"
	if g.two {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(g.memory, file))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// kill ends all in the groups at once, where the kernel can.
func (g groups) kill() {
	if g.unified != "" {
		_ = put(g.unified, "cgroup.kill", 1)
	}
}

// remove removes the groups, which are empty.
func (g groups) remove() {
	for _, dir := range g.all {
		_ = os.Remove(dir)
	}
	for _, f := range g.locks {
		_ = f.Close()
	}
}

// hierarchy is a mounted tree of control groups and this process's place in it.
type hierarchy struct {
	dir         string // of this process
	controllers []string
	two         bool
}

// make makes a group beside this process's or in it, and says which controllers it has.
func (h hierarchy) make(name string) (dir string, controllers []string) {
	if !h.two {
		dir = filepath.Join(h.dir, name)
		if os.Mkdir(dir, 0o755) != nil {
			return "", nil
		}
		return dir, h.controllers
	}
	// In version 2 a group that distributes controllers holds no processes. A service manager that
	// delegates a subtree puts this service into a group within it: the new one goes beside that.
	for _, parent := range []string{filepath.Dir(h.dir), h.dir} {
		if parent != h.dir {
			if !delegated(parent) {
				continue
			}
			_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+memory +pids"), 0) // if it has them
		}
		dir = filepath.Join(parent, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		controllers = strings.Fields(string(text))
		if parent == h.dir || slices.Contains(controllers, "memory") {
			return dir, controllers
		}
		_ = os.Remove(dir)
	}
	return "", nil
}

// delegated reports whether a group was handed over to this service. To others than root permissions
// say so; root could write anywhere, but what is not delegated is the service manager's.
func delegated(group string) bool {
	if os.Geteuid() != 0 {
		return true
	}
	var value [8]byte
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		if n, err := unix.Getxattr(group, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// hierarchies finds the trees with memory and pids, and that of version 2.
func hierarchies() []hierarchy {
	places, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var all []hierarchy
	for line := range strings.Lines(string(places)) {
		// 4:memory:/user.slice, and 0::/ for version 2
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers := strings.Split(parts[1], ",")
		two := parts[0] == "0" && parts[1] == ""
		if !two && !slices.Contains(controllers, "memory") && !slices.Contains(controllers, "pids") {
			continue
		}
		if dir := mountedAt(mounts, parts[2], controllers, two); dir != "" {
			all = append(all, hierarchy{dir: dir, controllers: controllers, two: two})
		}
	}
	return all
}

// mountedAt finds where the group place of a hierarchy is mounted.
func mountedAt(mountinfo []byte, place string, controllers []string, two bool) string {
	for s := bufio.NewScanner(bytes.NewReader(mountinfo)); s.Scan(); {
		m, ok := parseMount(s.Text())
		if !ok || two != (m.kind == "cgroup2") || !two && m.kind != "cgroup" {
			continue
		}
		if !two && !slices.Contains(strings.Split(m.super, ","), controllers[0]) {
			continue
		}
		rel, ok := below(m.root, place)
		if !ok && place != m.root {
			continue
		}
		return filepath.Join(m.point, rel)
	}
	return ""
}

// sweep removes the groups of helpers that have died, with what is still in them.
func sweep() {
	for _, h := range hierarchies() {
		for _, parent := range []string{h.dir, filepath.Dir(h.dir)} {
			found, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*")) // the pattern is well-formed
			for _, dir := range found {
				sweepGroup(dir, h.two)
			}
		}
	}
}

func sweepGroup(dir string, two bool) {
	lock, err := locked(dir, unix.LOCK_EX)
	if err != nil {
		return // it is in use
	}
	defer func() { _ = lock.Close() }()
	if two {
		_ = put(dir, "cgroup.kill", 1)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for _, p := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(p); err == nil && pid > 1 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	for range 100 {
		if err := os.Remove(dir); err == nil || !errors.Is(err, unix.EBUSY) {
			return
		}
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil) // what was killed is on its way out
	}
}
