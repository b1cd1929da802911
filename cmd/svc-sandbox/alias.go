package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mount is a line of /proc/self/mountinfo.
type mount struct {
	device string // major:minor
	root   string // what of the file system is mounted
	point  string // where
	kind   string // the type of the file system
	super  string // its options
}

func parseMount(line string) (mount, bool) {
	// 36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/root rw,errors=continue
	before, after, ok := strings.Cut(line, " - ")
	a, b := strings.Fields(before), strings.Fields(after)
	if !ok || len(a) < 6 || len(b) < 3 {
		return mount{}, false
	}
	return mount{device: a[2], root: unescape(a[3]), point: unescape(a[4]), kind: b[0], super: b[2]}, true
}

// unescape undoes what the kernel does to spaces and the like in a path: \040.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// aliases adds to hidden paths the other names that mounts give to the same files: a folder that is
// mounted a second time elsewhere would be seen there.
func aliases(mountinfo string, hidden []string) []string {
	var mounts []mount
	for line := range strings.Lines(mountinfo) {
		if m, ok := parseMount(line); ok {
			mounts = append(mounts, m)
		}
	}
	all := slices.Clone(hidden)
	for _, path := range hidden {
		at, ok := mountOf(mounts, path)
		if !ok {
			continue
		}
		rel, _ := below(at.point, path)
		inner := filepath.Join(at.root, rel)
		for _, m := range mounts {
			if m.device != at.device {
				continue
			}
			if rel, ok := below(m.root, inner); ok || m.root == inner {
				all = append(all, filepath.Join(m.point, rel))
			} else if _, ok := below(inner, m.root); ok {
				all = append(all, m.point)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mountOf finds the mount that a path is on: the innermost, and of several there the last.
func mountOf(mounts []mount, path string) (mount, bool) {
	best, ok := mount{}, false
	for _, m := range mounts {
		if _, in := below(m.point, path); !in && m.point != path {
			continue
		}
		if !ok || len(m.point) >= len(best.point) {
			best, ok = m, true
		}
	}
	return best, ok
}
