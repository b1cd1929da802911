package skill_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/skill"
)

// packed is an entry of an archive.
type packed struct {
	name    string
	mode    fs.FileMode // 0: 0644
	content string
}

func zipOf(t testing.TB, all ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, p := range all {
		h := &zip.FileHeader{Name: p.name, Method: zip.Deflate}
		if p.mode == 0 {
			p.mode = 0o644
		}
		h.SetMode(p.mode)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t testing.TB, all ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, p := range all {
		h := &tar.Header{Name: p.name, Mode: int64(p.mode.Perm()), Size: int64(len(p.content)), Typeflag: tar.TypeReg}
		switch {
		case p.mode == 0:
			h.Mode = 0o644
		case p.mode&fs.ModeSymlink != 0:
			h.Typeflag, h.Linkname, h.Size, p.content = tar.TypeSymlink, p.content, 0, ""
		case p.mode&fs.ModeDir != 0:
			h.Typeflag = tar.TypeDir
		case p.mode&fs.ModeNamedPipe != 0:
			h.Typeflag = tar.TypeFifo
		case p.mode&fs.ModeSetuid != 0:
			h.Mode |= 0o4000
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, p.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	want := []skill.File{{Path: "SKILL.md", Content: []byte("text")}, {Path: "bin/a", Exec: true, Content: []byte("#!/bin/sh")}}
	all := []packed{{"SKILL.md", 0, "text"}, {"bin/a", 0o755, "#!/bin/sh"}}
	var below []packed
	for _, p := range all {
		below = append(below, packed{"x/" + p.name, p.mode, p.content})
	}
	folder := append([]packed{{"x/", 0o755 | fs.ModeDir, ""}}, below...)
	for name, archive := range map[string][]byte{
		"a.zip": zipOf(t, all...), "folder.zip": zipOf(t, folder...), "A.ZIP": zipOf(t, below...),
		"a.tar.gz": tarOf(t, all...), "a.tgz": tarOf(t, folder...), "dot.tgz": tarOf(t, packed{"./", 0o755 | fs.ModeDir, ""}, packed{"./SKILL.md", 0, "text"}, packed{"./bin/a", 0o755, "#!/bin/sh"}),
	} {
		got, err := skill.Unpack(name, archive)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// What tar makes is read.
func TestUnpackOfTar(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.tar.gz")
	if out, err := exec.Command("tar", "-C", "../../deploy/skills", "-czf", file, "log-summary").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := skill.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := skill.Open("../../deploy/skills/log-summary")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadArchives(t *testing.T) {
	ok := packed{"SKILL.md", 0, "text"}
	bomb := strings.Repeat("\x00", 8<<20)
	var many, deep []packed
	for i := range 300 {
		many = append(many, packed{fmt.Sprint("f", i), 0, ""})
	}
	deep = append(deep, packed{strings.Repeat("a/", 20) + "b", 0, ""}, ok)
	for _, tc := range []struct {
		name string
		all  []packed
		want string
	}{
		{"out of the archive", []packed{ok, {"../evil", 0, ""}}, "../evil: its path leads out of the skill"},
		{"out of it by a folder", []packed{ok, {"a/../../evil", 0, ""}}, "its path leads out of the skill"},
		{"absolute", []packed{ok, {"/etc/cron.d/evil", 0, ""}}, "its path leads out of the skill"},
		{"backslashes", []packed{ok, {`..\evil`, 0, ""}}, "has a character that no path in a skill has"},
		{"a line break", []packed{ok, {"a\nb", 0, ""}}, "has a character that no path in a skill has"},
		{"hidden", []packed{ok, {".ssh/config", 0, ""}}, "its name begins with a dot"},
		{"a link", []packed{ok, {"a", 0o777 | fs.ModeSymlink, "/etc/passwd"}}, "it is a link or a device"},
		{"a pipe", []packed{ok, {"a", 0o644 | fs.ModeNamedPipe, ""}}, "it is a link or a device"},
		{"setuid", []packed{ok, {"a", 0o755 | fs.ModeSetuid, ""}}, "it has setuid or setgid"},
		{"a bomb", []packed{ok, {"a", 0, bomb}}, "it has more than 2048 KiB in all"},
		{"many files", many, "or more than 200 files"},
		{"deep", deep, "folders deep: move it up"},
		{"twice", []packed{ok, {"a", 0, "1"}, {"a", 0, "2"}}, "a is there, too"},
		{"twice but for the case", []packed{ok, {"skill.MD", 0, "1"}}, "SKILL.md is there, too"},
		{"a file that is a folder", []packed{ok, {"a", 0, "1"}, {"a/b", 0, "2"}}, "a is there, too"},
		{"a folder that is a file", []packed{ok, {"a/b", 0, "2"}, {"a", 0, "1"}}, "a/ is there, too"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, archive := range map[string][]byte{"s.zip": zipOf(t, tc.all...), "s.tar.gz": tarOf(t, tc.all...)} {
				if _, err := skill.Unpack(name, archive); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), name) {
					t.Errorf("%s: got %v, want %q", name, err, tc.want)
				}
			}
		})
	}
	for name, content := range map[string]string{"s.zip": "not one", "s.tar.gz": "not one", "s.tgz": string(tarOf(t, ok)[:40])} {
		if _, err := skill.Unpack(name, []byte(content)); err == nil || !strings.Contains(err.Error(), "the archive cannot be read (") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := skill.Unpack("s.rar", nil); err == nil || !strings.Contains(err.Error(), "give a folder, or an archive .zip, .tar.gz or .tgz") {
		t.Errorf("got %v", err)
	}
	if _, err := skill.Unpack("s.zip", make([]byte, 5<<20)); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Errorf("got %v", err)
	}
}

// A tar archive can be long without a file in it.
func TestLongTar(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := range 20_000 {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint("d", i, "/"), Mode: 0o755, Typeflag: tar.TypeDir}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := skill.Unpack("s.tgz", b.Bytes()); err == nil || !strings.Contains(err.Error(), "it has more than") {
		t.Errorf("got %v", err)
	}
}

// What comes out of an archive, whatever that is, is few files of few bytes, each at a path of its own within
// the skill, and can be written to a folder and read again.
func FuzzUnpack(f *testing.F) {
	f.Add(true, zipOf(f, packed{"SKILL.md", 0, "text"}, packed{"a/b", 0o755, "x"}))
	f.Add(false, tarOf(f, packed{"x/SKILL.md", 0, "text"}, packed{"x/../../y", 0, "x"}))
	f.Add(true, zipOf(f, packed{"../x", 0, ""}, packed{"a", fs.ModeSymlink | 0o777, "/etc"}))
	f.Fuzz(func(t *testing.T, zipped bool, archive []byte) {
		name := "s.tgz"
		if zipped {
			name = "s.zip"
		}
		files, err := skill.Unpack(name, archive)
		if err != nil {
			return
		}
		dir := t.TempDir()
		size := 0
		for _, file := range files {
			size += len(file.Content)
			p := filepath.Join(dir, filepath.FromSlash(file.Path))
			if !filepath.IsLocal(file.Path) {
				t.Fatalf("got the path %q", file.Path)
			}
			mode := os.FileMode(0o600)
			if file.Exec {
				mode = 0o700
			}
			if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(p); err == nil {
				t.Fatalf("%q is there twice", file.Path)
			}
			if err := os.WriteFile(p, file.Content, mode); err != nil {
				t.Fatal(err)
			}
		}
		if size > 2<<20 || len(files) > 200 {
			t.Errorf("got %d files with %d bytes", len(files), size)
		}
		if again, err := skill.ReadFolder(dir); err != nil || skill.Hash(again) != skill.Hash(files) {
			t.Errorf("got another skill from the folder: %v", err)
		}
	})
}
