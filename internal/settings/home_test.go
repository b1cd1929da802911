package settings_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func locate(t *testing.T, dir string) settings.Home {
	t.Helper()
	h, err := settings.Locate(env(map[string]string{"SVC_HOME": dir}), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLocate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, svcHome, home, fallback, want, err string
	}{
		{"SVC_HOME first", "/data", "/home/a", "/caddy", "/data", ""},
		{"then the home folder", "", "/home/a", "/caddy", "/home/a/.svc", ""},
		{"then Caddy's", "", "", "/caddy/svc", "/caddy/svc", ""},
		{"cleaned", "/data/../srv/", "", "", "/srv", ""},
		{"relative", "data", "/home/a", "", "", `SVC_HOME is "data", a relative path: set it to an absolute one`},
		{"nothing", "", "", "", "", "neither SVC_HOME nor HOME is set: set SVC_HOME to an absolute path"},
		{"relative fallback", "", "", "./caddy/svc", "", "neither SVC_HOME nor HOME is set"},
		{"relative home folder", "", "a", "", "", "neither SVC_HOME nor HOME is set"},
		{"long", "/" + strings.Repeat("x", 86), "", "", "", "the path has 87 characters, and the sockets in it allow 86: set SVC_HOME to a shorter one"},
		{"longest", "/" + strings.Repeat("x", 85), "", "", "/" + strings.Repeat("x", 85), ""},
		{"long home folder", "", "/" + strings.Repeat("x", 100), "", "", "set SVC_HOME to a shorter one"},
		{"a file", file, "", "", "", "this is a file, or lies below one: set SVC_HOME to a folder"},
		{"below a file", file + "/svc", "", "", "", "this is a file, or lies below one: set SVC_HOME to a folder"},
		{"root", "/", "", "", "", "cannot be the data folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, err := settings.Locate(env(map[string]string{"SVC_HOME": tt.svcHome, "HOME": tt.home}), tt.fallback)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if err == nil && h.Dir() != tt.want {
				t.Errorf("got %s, want %s", h.Dir(), tt.want)
			}
		})
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestCreate(t *testing.T) {
	h := locate(t, filepath.Join(t.TempDir(), "svc"))
	for range 2 {
		if err := h.Create(); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"", "config", "databases", "run", "workspace"} {
			if m := mode(t, filepath.Join(h.Dir(), dir)); m != 0o700 {
				t.Errorf("%q: got mode %o, want 700", dir, m)
			}
		}
		ignore, err := os.ReadFile(filepath.Join(h.Dir(), ".gitignore"))
		if err != nil || !strings.Contains(string(ignore), "config/\ndatabases/\n") {
			t.Errorf("got .gitignore %q, %v", ignore, err)
		}
		// The second round starts from folders that somebody opened.
		for _, dir := range []string{"", "config"} {
			if err := os.Chmod(filepath.Join(h.Dir(), dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCreateInAFolderOfOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := locate(t, dir).Create(); err == nil || !strings.Contains(err.Error(), "others can write to it: chmod 700 it, or set SVC_HOME") {
		t.Errorf("writable by all: got %v", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := locate(t, dir).Create(); err != nil {
		t.Errorf("readable by all: %v", err)
	}
	if m := mode(t, dir); m != 0o755 {
		t.Errorf("the mode of a folder that is not ours was changed to %o", m)
	}
}

func TestCreateWithoutPermission(t *testing.T) {
	// Nobody, not even root, makes a folder there.
	err := locate(t, "/sys/svc").Create()
	if err == nil || !strings.Contains(err.Error(), "creating the data folder /sys/svc: ") ||
		!strings.Contains(err.Error(), "let this user write to it, or set SVC_HOME to a folder where it may") {
		t.Errorf("got %v", err)
	}
}

func TestWriteToken(t *testing.T) {
	h := locate(t, filepath.Join(t.TempDir(), "svc"))
	for _, token := range []string{"svc_a", "svc_b"} {
		if err := h.WriteToken(token); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(h.Token())
		if err != nil || string(got) != token+"\n" {
			t.Errorf("got %q, %v", got, err)
		}
		if m := mode(t, h.Token()); m != 0o600 {
			t.Errorf("got mode %o, want 600", m)
		}
	}
	if all, _ := os.ReadDir(h.Dir()); len(all) != 1 {
		t.Errorf("got %v, want the token alone", all)
	}
}

// A token that is put aside is as private as one that is written, whatever its file was.
func TestKeepToken(t *testing.T) {
	h := locate(t, t.TempDir())
	if _, err := h.KeepToken(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a token: got %v", err)
	}
	if err := h.WriteToken("first"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(h.Token(), 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := h.KeepToken()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "first\n" || err != nil || mode(t, path) != 0o600 {
		t.Errorf("got %q of mode %o, %v", got, mode(t, path), err)
	}
	if err := h.WriteSession("second"); err != nil {
		t.Fatal(err)
	}
	if path, err := h.KeepToken(); path != "" || err != nil {
		t.Errorf("a session's: kept in %q, %v", path, err)
	}
	if err := h.WriteToken("third"); err != nil {
		t.Fatal(err)
	}
	if other, err := h.KeepToken(); other == "" || other == path || err != nil {
		t.Errorf("another one after a session's: kept in %q, %v", other, err)
	}
}

func TestProjectRoot(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := locate(t, filepath.Join(base, "svc"))
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(base, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": project, "sly": filepath.Join(h.Dir(), "config"), "slash": "/"} {
		if err := os.Symlink(target, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, configured, started, want, err string }{
		{"the folder of the start", "", project, project, ""},
		{"a link to it", "", filepath.Join(base, "link"), project, ""},
		{"started in /", "", "/", h.Workspace(), ""},
		{"started nowhere", "", "", h.Workspace(), ""},
		{"started in the data folder", "", filepath.Join(h.Dir(), "config"), h.Workspace(), ""},
		{"configured", project, "/", project, ""},
		{"above the data folder", base, "", base, ""},
		{"the workspace", h.Workspace(), "", h.Workspace(), ""},
		{"the data folder", h.Dir(), "", "", "is in the data folder"},
		{"a link into it", filepath.Join(base, "sly"), "", "", "is in the data folder"},
		{"a link to /", filepath.Join(base, "slash"), "", "", "cannot be the project root"},
		{"missing", filepath.Join(base, "none"), "", "", "no such file"},
		{"a file", filepath.Join(h.Dir(), ".gitignore"), "", "", "is not a folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := settings.ProjectRoot(tt.configured, tt.started, h)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if !h.Hides(filepath.Join(h.Dir(), "token")) || h.Hides(filepath.Join(h.Workspace(), "a")) || h.Hides(base) {
		t.Error("Hides: want the data folder hidden, its workspace and its parent not")
	}
}

// A file with secrets that was copied into the data folder with the mode of any other file.
func TestTighten(t *testing.T) {
	h := locate(t, filepath.Join(t.TempDir(), "svc [x"))
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	if closed, err := h.Tighten(); len(closed) > 0 || err != nil {
		t.Errorf("a new folder: got %v, %v", closed, err)
	}
	key := filepath.Join(filepath.Dir(h.AssertionKey()), "some.key")
	if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
		t.Fatal(err)
	}
	modes := map[string]fs.FileMode{h.Token(): 0o644, h.Token() + ".old": 0o640, h.Token() + ".0a1b2c3d4e5f": 0o644, h.Config(): 0o666, key: 0o604}
	for path, m := range modes {
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, m); err != nil {
			t.Fatal(err)
		}
	}
	if closed, err := h.Tighten(); len(closed) != len(modes) || err != nil {
		t.Errorf("got %v, %v, want all of them", closed, err)
	}
	for path := range modes {
		if got := mode(t, path); got != 0o600 {
			t.Errorf("%s: got mode %o, want 600", path, got)
		}
	}
	if err := os.Chmod(h.Config(), 0o400); err != nil {
		t.Fatal(err)
	}
	if closed, err := h.Tighten(); len(closed) > 0 || err != nil {
		t.Errorf("with the right modes: got %v, %v", closed, err)
	}
}
