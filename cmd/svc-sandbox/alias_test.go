package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAliases(t *testing.T) {
	const mounts = `21 1 254:0 / / rw - ext4 /dev/vda rw
22 21 0:5 / /dev rw - devtmpfs dev rw
23 21 254:0 /srv/home /mnt/second\040one rw - ext4 /dev/vda rw
24 21 254:0 /srv/home/data/keys /mnt/keys rw - ext4 /dev/vda rw
25 21 254:0 /srv/home/data /mnt/data rw - ext4 /dev/vda rw
26 21 254:0 /srv/home/database /mnt/database rw - ext4 /dev/vda rw
27 21 254:16 /srv/home/data /mnt/other rw - ext4 /dev/vdb rw
`
	want := []string{"/mnt/data", "/mnt/keys", "/mnt/second one/data", "/srv/home/data"}
	if d := cmp.Diff(want, aliases(mounts, []string{"/srv/home/data"})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, aliases(mounts, []string{"/mnt/data"})); d != "" {
		t.Errorf("from the other side (-want +got):\n%s", d)
	}
}

func TestBelow(t *testing.T) {
	for _, tc := range []struct {
		dir, path, want string
		ok              bool
	}{
		{"/", "/a/b", "a/b", true},
		{"/", "/", "", false},
		{"/a", "/a", "", false},
		{"/a", "/a/b/c", "b/c", true},
		{"/a", "/ab", "", false},
		{"/a/", "/a/b", "b", true},
		{"/b", "/a", "", false},
	} {
		if got, ok := below(tc.dir, tc.path); got != tc.want || ok != tc.ok {
			t.Errorf("below(%q, %q): got %q %v, want %q %v", tc.dir, tc.path, got, ok, tc.want, tc.ok)
		}
	}
}
