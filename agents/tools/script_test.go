package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// asIs is a skill whose tool runs a shell script.
func asIs(text string, action policy.Action, targets map[string]provenance.Kind) (skill.Skill, skill.Tool) {
	t := skill.Tool{Name: "x__t", Script: "bin/t", Action: action, Targets: targets}
	return skill.Skill{Name: "x", Tools: []skill.Tool{t}, Files: []skill.File{
		{Path: "SKILL.md", Content: []byte("---\n")}, {Path: "bin/t", Exec: true, Content: []byte("#!/bin/bash\n" + text)}, {Path: "refs/a.md", Content: []byte("referred to\n")},
	}}, t
}

var named = map[string]provenance.Kind{"path": provenance.Path}

func TestScript(t *testing.T) {
	root, outside := scene(t)
	box := openBox(t, sandbox.Config{Hidden: []string{filepath.Join(root, ".svc")}, Allowed: []string{root}})
	for _, tc := range []struct {
		name, text string
		action     policy.Action
		targets    map[string]provenance.Kind
		want       string // in the text
		err        string
	}{
		{"the arguments", "cat", policy.Use, nil, `{"n":3,"path":"file"}`, ""},
		{"files of the skill", "cat refs/a.md; ls", policy.Use, nil, "referred to\nSKILL.md\nbin\nrefs\n", ""},
		{"nothing", "true", policy.Use, nil, "[no output]\n", ""},
		{"errors", "echo out; echo bad >&2", policy.Use, nil, "out\n[printed as errors: bad]\n", ""},
		{"it fails", "echo bad >&2; exit 3", policy.Use, nil, "", "the script ended with the exit code 3: bad"},
		{"a signal", "kill -SEGV $$", policy.Use, nil, "", "the script was ended by the signal SIGSEGV"},
		{"much output", "seq 100000", policy.Use, nil, "[cut: the first 24576 bytes are shown]", ""},
		{"no project", "echo ${SVC_PROJECT-none}; cat " + root + "/file 2>&1 || true", policy.Mutate, nil, "none\ncat: ", ""},
		{"the project", `cat "$SVC_PROJECT/file"`, policy.Use, named, "inside\n", ""},
		{"it is read-only", `echo x >"$SVC_PROJECT/file"`, policy.Use, named, "", "exit code 1"},
		{"it is writable", `echo x >"$SVC_PROJECT/new"; cat "$SVC_PROJECT/new"`, policy.Mutate, named, "x\n", ""},
		{"not what is around it", "cat " + outside + "/file", policy.Mutate, named, "", "No such file"},
		{"nor by a link", `cat "$SVC_PROJECT/up"`, policy.Mutate, named, "", "No such file"},
		{"nor the data folder", `cat "$SVC_PROJECT/.svc/token"`, policy.Mutate, named, "", "exit code 1"},
		{"no network", "exec 3<>/dev/tcp/127.0.0.1/80", policy.Mutate, nil, "", "exit code 1"},
		{"no environment of the service", "env | grep -c SVC_TEST || true", policy.Mutate, nil, "0\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("SVC_TEST", "1")
			s, tool := asIs(tc.text, tc.action, tc.targets)
			c := ScriptConfig{Box: box, Root: root, Denied: []string{filepath.Join(root, ".svc")}, Timeout: 20 * time.Second}
			res, err := newScript(c, s, tool).run(t.Context(), agents.ToolContext{}, map[string]any{"path": "file", "n": json.Number("3")})
			if got := errText(err); tc.err == "" && got != "" || !strings.Contains(got, tc.err) {
				t.Errorf("got the error %q, want %q", got, tc.err)
			}
			if !strings.Contains(res.Text, tc.want) || strings.Contains(res.Text+errText(err), secret) {
				t.Errorf("got %q, want %q", res.Text, tc.want)
			}
			if diff := cmp.Diff([]string{"skill:x"}, res.Sources); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A script that changes its own files changes its workspace, and the next call has those that were approved.
func TestScriptThatWritesItself(t *testing.T) {
	box := openBox(t, sandbox.Config{})
	s, tool := asIs("wc -c <bin/t; echo '# more' >>bin/t; echo x >SKILL.md; wc -c <SKILL.md", policy.Mutate, nil)
	before, want := skill.Hash(s.Files), fmt.Sprintf("%d\n2\n", len(s.Files[1].Content))
	for range 2 {
		res, err := newScript(ScriptConfig{Box: box, Timeout: 20 * time.Second}, s, tool).run(t.Context(), agents.ToolContext{}, nil)
		if err != nil || res.Text != want {
			t.Errorf("got %q, %v; want %q", res.Text, err, want)
		}
	}
	if skill.Hash(s.Files) != before {
		t.Error("the files of the skill have changed")
	}
}

func TestScriptTimeout(t *testing.T) {
	box := openBox(t, sandbox.Config{})
	s, tool := asIs("echo started; while true; do :; done", policy.Use, nil)
	tool.Timeout = 300 * time.Millisecond
	res, err := newScript(ScriptConfig{Box: box, Timeout: 20 * time.Second}, s, tool).run(t.Context(), agents.ToolContext{}, nil)
	if !errors.Is(err, context.DeadlineExceeded) || res.Text != "started\n" {
		t.Errorf("got %q, %v", res.Text, err)
	}
}

func TestScriptWithoutSandbox(t *testing.T) {
	s, tool := asIs("", policy.Use, nil)
	if _, err := newScript(ScriptConfig{}, s, tool).run(t.Context(), agents.ToolContext{}, nil); !sandbox.IsUnavailable(err) {
		t.Errorf("got %v", err)
	}
	root, _ := scene(t)
	s, tool = asIs("", policy.Use, named)
	_, err := newScript(ScriptConfig{Box: noBox{}, Root: root, Denied: []string{root}}, s, tool).run(t.Context(), agents.ToolContext{}, nil)
	if err == nil || !strings.Contains(err.Error(), "is the service's data folder") {
		t.Errorf("got %v", err)
	}
}

// noBox is a sandbox that nothing may reach.
type noBox struct{}

func (noBox) Run(context.Context, sandbox.Spec) (sandbox.Result, error) { panic("run") }

// The gate sees what a script reaches for, as it does with other tools.
func TestScriptClass(t *testing.T) {
	root, _ := scene(t)
	s, tool := asIs("", policy.Mutate, map[string]provenance.Kind{"path": provenance.Path, "hosts": provenance.Host})
	d := Script(ScriptConfig{Root: root}, s, tool)
	c := d.Class(map[string]any{"path": root + "/sub/../file", "hosts": []any{"a.example"}, "other": "x"})
	want := agents.Classification{
		Action: policy.Mutate, Where: "in a sandbox that can change the project root", Paths: []string{"file"},
		Targets: []provenance.Target{
			{Argument: "hosts", Kind: provenance.Host, Value: "a.example"},
			{Argument: "path", Kind: provenance.Path, Value: "file", Same: []string{filepath.Join(root, "file")}},
		},
	}
	if diff := cmp.Diff(want, c, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if d.Skill != "x" || d.Timeout <= 0 {
		t.Errorf("got %+v", d.ToolDef)
	}
}

func TestReadSkill(t *testing.T) {
	s, _ := asIs("", policy.Use, nil)
	s.Body = "Do this.\nAnd that."
	s.Files = append(s.Files, skill.File{Path: "refs/b.bin", Content: []byte("\xff words")})
	hidden := skill.Skill{Name: "hidden", Body: "not yours"}
	tool := readSkill{skill.Bound{"core": {s}, "config": {hidden}}}
	for _, tc := range []struct {
		name, agent string
		args        map[string]any
		want, err   string
	}{
		{"the instruction", "core", map[string]any{"name": "x"}, "Do this.\nAnd that.\n[files of this skill: bin/t, refs/a.md, refs/b.bin]\n[tools of this skill: x__t]\n", ""},
		{"by its name", "core", map[string]any{"name": "x", "file": "SKILL.md"}, "Do this.\nAnd that.\n[files", ""},
		{"a part", "core", map[string]any{"name": "x", "offset": 2.0, "limit": 1.0}, "And that.\n[more follows: go on with offset 3", ""},
		{"a file", "core", map[string]any{"name": "x", "file": "refs/a.md"}, "referred to\n", ""},
		{"no such file", "core", map[string]any{"name": "x", "file": "refs/b.md"}, "", `the skill x has no file "refs/b.md"; did you mean refs/a.md?; it has bin/t, refs/a.md`},
		{"no text", "core", map[string]any{"name": "x", "file": "refs/b.bin"}, "", "refs/b.bin is not a text"},
		{"out of the skill", "core", map[string]any{"name": "x", "file": "../../token"}, "", "the skill x has no file"},
		{"no such skill", "core", map[string]any{"name": "y"}, "", `you have no skill "y"`},
		{"another's", "core", map[string]any{"name": "hidden"}, "", `you have no skill "hidden"; yours are x`},
		{"of an agent without", "quick", map[string]any{"name": "x"}, "", `you have no skill "x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := tool.run(t.Context(), agents.ToolContext{Agent: tc.agent}, tc.args)
			if !strings.HasPrefix(res.Text, tc.want) || !strings.Contains(errText(err), tc.err) || (err == nil) != (tc.err == "") {
				t.Errorf("got %q, %v; want %q, %q", res.Text, err, tc.want, tc.err)
			}
			if tc.want != "" && !cmp.Equal(res.Sources, []string{"skill:x"}) {
				t.Errorf("got the labels %v", res.Sources)
			}
			if strings.Contains(errText(err), "not yours") {
				t.Error("it shows another's skill")
			}
		})
	}
}
