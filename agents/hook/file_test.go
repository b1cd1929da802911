package hook_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/hook"
)

const forms = `"tool.call", "command": "true"`

func TestMistakesAreNamedAndGoodHooksKept(t *testing.T) {
	const unused = ": what was read before stays"
	for _, tc := range []struct {
		name, text string
		hooks      int
		want       []string // each mistake begins so, or holds what comes after …
	}{
		{"none", `{"hooks":[]}`, 0, nil},
		{"good", document(entry{hook.ToolCall, "true"}, entry{hook.SessionEnd, "false"}), 2, nil},
		{"event", `{"hooks":[{"event":"tool.cal","command":"x"},{"event":` + forms + `}]}`, 1, []string{
			`hooks[0].event: unknown event: "tool.cal" is none of session.start, session.end, tool.call, hitl.requested, hitl.decision; did you mean tool.call?`,
		}},
		{"everything in one", `{"hooks":[{"even":"tool.call","command":7}]}`, 0, []string{
			"hooks[0].even: unknown field; remove it, a hook has event and command only; did you mean event?",
			"hooks[0].event: it is missing; set it to one of session.start, session.end, tool.call, hitl.requested, hitl.decision",
			"hooks[0].command: it has to be a string; set it to a command for /bin/sh",
		}},
		{"empty command", `{"hooks":[{"event":"tool.call","command":" "}]}`, 0, []string{"hooks[0].command: it is empty; set it to"}},
		{"NUL", `{"hooks":[{"event":"tool.call","command":"a\u0000b"}]}`, 0, []string{"hooks[0].command: it has a NUL"}},
		{"long command", document(entry{hook.ToolCall, strings.Repeat("x", 65<<10)}), 0, []string{"hooks[0].command: it has 66560 bytes, of 65536 at most; put it into a script"}},
		{"null command", `{"hooks":[{"event":"tool.call","command":null}]}`, 0, []string{"hooks[0].command: it has to be a string"}},
		{"no object", `{"hooks":["true",{"event":` + forms + `},null]}`, 1, []string{"hooks[0]: it has to be an object", "hooks[2]: it has to be an object"}},
		{"field beside", `{"hook":[],"hooks":[{"event":` + forms + `}]}`, 1, []string{"hook: unknown field; remove it; did you mean hooks?"}},
		{"no hooks", `{"hook":[]}`, 0, []string{"hook: unknown field; remove it; did you mean hooks?", `hooks: it has to be a list; write {"hooks":[]} for no hooks` + unused}},
		{"null", `{"hooks":null}`, 0, []string{"hooks: it has to be a list"}},
		{"a list", `[]`, 0, []string{`it is not an object; write {"hooks":[]}` + unused}},
		{"half", `{"hooks":[{"event":"tool.call",`, 0, []string{"document ends too early"}},
		{"empty", ``, 0, []string{"empty document"}},
		{"twice", `{"hooks":[],"hooks":[]}`, 0, []string{"duplicate name"}},
		{"too many", document(make([]entry, 257)...), 0, []string{"…there are 257 hooks, and those after the first 256 do not run"}},
		{"large", `{"hooks":[]}` + strings.Repeat(" ", 1<<20), 0, []string{"refused, and no hook runs: it is larger than 1 MiB"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := open(t, hook.Config{})
			f.write(tc.text)
			hooks, mistakes := hook.Check(f.path("hooks.json"))
			if hooks != tc.hooks {
				t.Errorf("got %d hooks, want %d", hooks, tc.hooks)
			}
			var got []string
			for _, m := range mistakes {
				got = append(got, m.Error())
			}
			if tc.name == "too many" {
				got = got[len(got)-1:]
			}
			if len(got) != len(tc.want) {
				t.Fatalf("got mistakes %q, want %q", got, tc.want)
			}
			for i, want := range tc.want {
				if inside, ok := strings.CutPrefix(want, "…"); ok && strings.Contains(got[i], inside) {
					continue
				}
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

func TestAMissingFileIsNoMistake(t *testing.T) {
	if hooks, mistakes := hook.Check(t.TempDir() + "/hooks.json"); hooks != 0 || mistakes != nil {
		t.Errorf("got %d, %v", hooks, mistakes)
	}
}

// Root checks the file of a service that runs as somebody else.
func TestRootChecksForTheService(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	dir := t.TempDir()
	path := dir + "/hooks.json"
	if err := errors.Join(os.WriteFile(path, []byte(`{"hooks":[{"event":`+forms+`}]}`), 0o600), os.Chown(path, 4711, -1), os.Chown(dir, 4711, -1), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if hooks, mistakes := hook.Check(path); hooks != 1 || mistakes != nil {
		t.Errorf("got %d, %v", hooks, mistakes)
	}
	if err := os.Chown(path, 4712, -1); err != nil {
		t.Fatal(err)
	}
	if hooks, mistakes := hook.Check(path); hooks != 0 || len(mistakes) != 1 || !strings.Contains(mistakes[0].Error(), "number 4712, and the service runs as 4711") {
		t.Errorf("somebody else's: got %d, %v", hooks, mistakes)
	}
}

// ran fires an event and reports which command has run, from the file that it wrote.
func (f *fixture) ran() string {
	f.t.Helper()
	os.Remove(f.path("ran"))
	// The last hook of each file tells that the event has had its turn.
	if err := f.Fire(hook.SessionEnd); err != nil {
		f.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; {
		text, _ := os.ReadFile(f.path("ran"))
		if len(text) > 0 {
			return strings.TrimSpace(string(text))
		}
		if time.Now().After(deadline) {
			return ""
		}
	}
}

func TestTheFileIsReadAgainWhenItChanges(t *testing.T) {
	writes := func(word string) string { return document(entry{hook.SessionEnd, "echo " + word + " > ran"}) }
	f := open(t, hook.Config{}, entry{hook.SessionEnd, "echo aa > ran"})
	if got := f.ran(); got != "aa" {
		t.Fatalf("got %q, want aa", got)
	}
	f.write(writes("bb")) // of the same length, within one tick of the file system's clock
	if got := f.ran(); got != "bb" {
		t.Fatalf("got %q, want bb", got)
	}
	f.write(writes("cc")[:20])
	if got := f.ran(); got != "bb" {
		t.Fatalf("half written: got %q, want bb", got)
	}
	f.ran() // the mistake is reported once
	f.write(writes("cc"))
	if got := f.ran(); got != "cc" {
		t.Fatalf("got %q, want cc", got)
	}
	if err := os.WriteFile(f.path("new"), []byte(writes("dd")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.path("new"), f.path("hooks.json")); err != nil {
		t.Fatal(err)
	}
	if got := f.ran(); got != "dd" {
		t.Fatalf("renamed: got %q, want dd", got)
	}
	f.close()
	want := []string{"hooks.json has a mistake: document ends too early: /hooks/0; write"}
	if got := f.warnings(); len(got) != 1 || !strings.HasPrefix(got[0], "hooks.json has a mistake: document ends too early") {
		t.Errorf("got warnings %q, want %q", got, want)
	}
}

// The attack: somebody who may write to the file has commands run as the service.
func TestAFileOfOthersIsRefused(t *testing.T) {
	const refused = "hooks.json has a mistake: refused, and no hook runs: "
	for _, tc := range []struct {
		name, want string
		change     func(f *fixture) error
		undo       func(f *fixture) error // nil: it stays
	}{
		{"writable by all", "it can be written by others (mode 0602)", chmod("hooks.json", 0o602), chmod("hooks.json", 0o644)},
		{"writable by the group", "it can be written by others (mode 0620)", chmod("hooks.json", 0o620), chmod("hooks.json", 0o644)},
		{"folder writable by all", "its folder can be written by others (mode 0702)", chmod("", 0o702), chmod("", 0o755)},
		{"sticky folder", "its folder can be written by others (mode 1777)", func(f *fixture) error { return syscall.Chmod(f.dir, 0o1777) }, chmod("", 0o700)},
		{"symbolic link", "it is a symbolic link", func(f *fixture) error {
			return errors.Join(os.Rename(f.path("hooks.json"), f.path("real")), os.Symlink("real", f.path("hooks.json")))
		}, func(f *fixture) error { return os.Rename(f.path("real"), f.path("hooks.json")) }},
		{"dangling link", "it is a symbolic link", func(f *fixture) error {
			return errors.Join(os.Remove(f.path("hooks.json")), os.Symlink("nowhere", f.path("hooks.json")))
		}, nil},
		{"pipe", "it is not a regular file", func(f *fixture) error {
			return errors.Join(os.Remove(f.path("hooks.json")), syscall.Mkfifo(f.path("hooks.json"), 0o600))
		}, nil},
		{"folder", "it is not a regular file", func(f *fixture) error {
			return errors.Join(os.Remove(f.path("hooks.json")), os.Mkdir(f.path("hooks.json"), 0o700))
		}, nil},
		{"somebody else's", "it belongs to the user with the number 4711", func(f *fixture) error { return os.Chown(f.path("hooks.json"), 4711, -1) }, nil},
		{"in somebody else's folder", "its folder belongs to the user with the number 4711", func(f *fixture) error { return os.Chown(f.dir, 4711, -1) }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if strings.Contains(tc.name, "somebody") && os.Geteuid() != 0 {
				t.Skip("only root gives files away")
			}
			f := open(t, hook.Config{}, entry{hook.SessionEnd, "echo x > ran"})
			if got := f.ran(); got != "x" {
				t.Fatalf("before: got %q", got)
			}
			os.Remove(f.path("ran"))
			if err := tc.change(f); err != nil {
				t.Fatal(err)
			}
			f.SessionEnd("core")
			f.warning("hooks.json has a mistake")
			if tc.undo == nil {
				f.SessionEnd("core") // what is wrong is reported once
			} else {
				if err := tc.undo(f); err != nil {
					t.Fatal(err)
				}
				if got := f.ran(); got != "x" {
					t.Errorf("afterwards: got %q", got)
				}
				os.Remove(f.path("ran"))
			}
			f.close()
			if _, err := os.Stat(f.path("ran")); err == nil {
				t.Error("a hook ran")
			}
			if got := f.warnings(); len(got) != 1 || !strings.HasPrefix(got[0], refused+tc.want) {
				t.Errorf("got warnings %q, want %q", got, refused+tc.want)
			}
		})
	}
}

func chmod(name string, mode os.FileMode) func(*fixture) error {
	return func(f *fixture) error { return os.Chmod(f.path(name), mode) }
}

func TestARemovedFileHasNoHooks(t *testing.T) {
	f := open(t, hook.Config{}, entry{hook.SessionEnd, "echo x > ran"})
	if err := os.Remove(f.path("hooks.json")); err != nil {
		t.Fatal(err)
	}
	f.SessionEnd("core")
	f.close()
	if _, err := os.Stat(f.path("ran")); err == nil {
		t.Error("a hook ran")
	}
	if diff := cmp.Diff([]string(nil), f.warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{`{"hooks":[]}`, `{"hooks":[{"event":` + forms + `}]}`, `{"hooks":[{}]}`, `[`, `{"hooks":{"a":1}}`, `{"":1}`, `{"a\nb":1,"hooks":[{"a\nb":1}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		os.Chmod(dir, 0o700)
		path := dir + "/hooks.json"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		hooks, mistakes := hook.Check(path)
		if hooks > strings.Count(text, "{")-1 && hooks > 0 {
			t.Errorf("got %d hooks from %q", hooks, text)
		}
		for _, m := range mistakes {
			if m.Error() == "" || strings.ContainsRune(m.Error(), '\n') {
				t.Errorf("got the message %q", m)
			}
		}
	})
}
