package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
)

func TestRunCode(t *testing.T) {
	c := coder{openBox(t, sandbox.Config{}), nil, 10 * time.Second}
	for _, tc := range []struct {
		name, language, code string
		want                 codeResult
		files                int
	}{
		{"python", "python3", "import sys\nprint(6*7)\nprint('<e>', file=sys.stderr)", codeResult{Result: sandbox.Result{Stdout: "42\n", Stderr: "<e>\n"}}, 0},
		{"bash", "bash", "cat; echo hi; exit 3", codeResult{Result: sandbox.Result{Stdout: "hi\n", Exit: 3}}, 0},
		{"signal", "bash", "kill -SEGV $$", codeResult{Result: sandbox.Result{Exit: -1, Signal: "SIGSEGV"}}, 0},
		{"files", "bash", "echo a >a; mkdir b; echo b >b/c", codeResult{}, 2},
		{"many files", "bash", "for i in $(seq 300); do echo >$i; done", codeResult{}, maxListed},
		{"much output", "bash", "seq 100000", codeResult{Result: sandbox.Result{Truncated: true}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"language": tc.language, "code": tc.code})
			if err != nil {
				t.Fatal(err)
			}
			var got codeResult
			if err := json.Unmarshal([]byte(res.Text), &got); err != nil {
				t.Fatal(err)
			}
			w := tc.want
			if tc.name == "much output" {
				w.Stdout = got.Stdout
			}
			if got.Exit != w.Exit || got.Signal != w.Signal || got.Stdout != w.Stdout || got.Stderr != w.Stderr || got.Truncated != w.Truncated || len(got.Files) != tc.files {
				t.Errorf("got %s, want %+v", res.Text, w)
			}
			for _, field := range []string{"exit", "signal", "timed_out", "truncated", "oom", "stdout", "stderr", "duration_ms", "files", "degraded"} {
				if !strings.Contains(res.Text, `"`+field+`":`) {
					t.Errorf("no %s in %s", field, res.Text)
				}
			}
		})
	}
}

// A program that does not end is stopped, with all that it has started.
func TestRunCodeTimeout(t *testing.T) {
	c := coder{openBox(t, sandbox.Config{}), nil, 10 * time.Second}
	start := time.Now()
	res, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{
		"language": "bash", "timeout": 0.3, "code": "setsid sleep 87654.3 & echo started; while true; do :; done",
	})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 8*time.Second {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
	var got codeResult
	if err := json.Unmarshal([]byte(res.Text), &got); err != nil {
		t.Fatal(err)
	}
	if !got.TimedOut || got.Error == nil || got.Error.Code != "timeout" || got.Error.TimeoutMS != 300 || got.Stdout != "started\n" {
		t.Errorf("got %s", res.Text)
	}
	if n := processes(t, "87654.3"); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

func TestRunCodeRefuses(t *testing.T) {
	post := map[string]any{"language": "python3", "code": "import requests\n\nx = 1; requests.post('http://x/y', json={})"}
	for _, tc := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"a language", map[string]any{"language": "perl", "code": "1"}, `"perl" is unknown: use bash or python3`},
		{"no code", map[string]any{"language": "bash", "code": " "}, `"code" is empty`},
		{"an argument", map[string]any{"language": "bash", "code": "ls", "dir": "/"}, `unknown argument "dir"`},
		{"too long", map[string]any{"language": "bash", "code": strings.Repeat("#", maxProgram+1)}, "more than the 102400"},
		{"timeout", map[string]any{"language": "bash", "code": "ls", "timeout": 11.0}, "not above 10"},
		{"no number", map[string]any{"language": "bash", "code": "ls", "timeout": "1"}, "must be a number of seconds"},
		{"a write", post, "line 3, column 8 sends a request that changes something"},
		{"no sandbox", map[string]any{"language": "bash", "code": "ls"}, "sandbox_unavailable: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r, err := (coder{nil, nil, 10 * time.Second}).run(t.Context(), agents.ToolContext{}, tc.args); err == nil || !strings.Contains(err.Error(), tc.want) && tc.name != "a write" {
				t.Errorf("got %q, %v, want %q", r.Text, err, tc.want)
			}
		})
	}
	// The gate refuses it, before the policy is asked.
	got := classifyCode(post).Refused
	if !strings.HasPrefix(got, "code_writes: ") || !strings.Contains(got, "line 3, column 8 sends a request that changes something") {
		t.Errorf("got %q", got)
	}
	for _, code := range []string{"import sqlite3\nsqlite3.connect('x').execute('DELETE FROM t')", "import urllib.request\nurllib.request.urlopen('http://x', data=b'x')"} {
		if got := classifyCode(map[string]any{"language": "python3", "code": code}); got.Refused == "" || len(got.Findings) == 0 {
			t.Errorf("%s: got %+v", code, got)
		}
	}
	if got := classifyCode(map[string]any{"language": "bash", "code": "curl -X DELETE http://x/y"}).Refused; !strings.Contains(got, "line 1, column 1") {
		t.Errorf("bash: got %q", got)
	}
	if got := classifyCode(map[string]any{"language": "python3", "code": "print(1)"}).Refused; got != "" {
		t.Errorf("print: got %q", got)
	}
}
