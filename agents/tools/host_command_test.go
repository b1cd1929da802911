package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/scanner/command"
)

func TestApprovedCommandsRunOnTheHost(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	program := "#!/bin/sh\necho \"reloaded $*\"; echo \"$SVC_TEST_SECRET\"\n"
	for path, text := range map[string]string{filepath.Join(bin, "nginx"): program, filepath.Join(root, "evil"): program} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", strings.Join([]string{".", "", root, bin, "/usr/bin", "/bin"}, ":"))
	t.Setenv("SVC_TEST_SECRET", "of the service")
	w := workspace{root: root}
	for _, tc := range []struct {
		name, line string
		approved   bool
		want, err  string
	}{
		{"approved", "nginx -s reload && mkdir made && ls -d made", true, "reloaded -s reload\n\nmade\n", ""},
		{"not approved", "nginx -s reload", false, "", "is not allowed"},
		{"a program that an agent may have written", "evil x", true, "", "exit code 127"},
		{"read-only commands are not run otherwise", "find . -name made", true, "", "is not allowed"},
		{"the exit code", "nginx; exit 7", true, "exit code 7", ""},
		{"what people do not see", "nginx \u202e-s reload", true, "", "U+202E is not allowed"},
		{"a letter without a look", "nginx \u3164-s reload", true, "", "U+3164 is not allowed"},
		{"a control character", "nginx \x1b[2K", true, "", "U+001B is not allowed"},
		{"a long line", "nginx " + strings.Repeat("x", maxLine), true, "", "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := commandsIn(w).run(t.Context(), agents.ToolContext{Approved: tc.approved}, map[string]any{"command": tc.line})
			got := res.Text
			if err != nil {
				got = err.Error()
			}
			want := tc.want + tc.err
			if !strings.Contains(got, want) || strings.Contains(got, "of the service") || tc.err == "" && err != nil {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(root, "made")); err != nil {
		t.Errorf("the command did not run in the project root: %v", err)
	}
}

// What may need approval says where it would run, and it is what an approval runs there.
func TestWhereACallWouldRun(t *testing.T) {
	for line, want := range map[string]place{
		"df -h": direct, "find .": reading, "df -h | sort": reading, "touch x": writing, "df -h > x": writing,
		"touch /etc/x": host, "reboot": host, "nginx -s reload": host, "python3 x.py": host,
	} {
		if got := commandsIn(workspace{root: t.TempDir()}).classify(map[string]any{"command": line}).Where; got != string(want) {
			t.Errorf("%s (%s): got %q, want %q", line, command.Analyze(line).Class, got, want)
		}
	}
}
