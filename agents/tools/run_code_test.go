package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
)

func newCoder(box Sandbox) coder {
	return coder{CodeConfig{Box: box, Timeout: 10 * time.Second}, newLanguages(nil)}
}

func TestRunCode(t *testing.T) {
	c := newCoder(openBox(t, sandbox.Config{}))
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
	c := newCoder(openBox(t, sandbox.Config{}))
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
		{"a language", map[string]any{"language": "perl", "code": "1"}, `"perl" is unknown: use bash, python3 or sql`},
		{"no code", map[string]any{"language": "bash", "code": " "}, `"code" is empty`},
		{"an argument", map[string]any{"language": "bash", "code": "ls", "dir": "/"}, `unknown argument "dir"`},
		{"too long", map[string]any{"language": "bash", "code": strings.Repeat("#", maxProgram+1)}, "more than the 102400"},
		{"timeout", map[string]any{"language": "bash", "code": "ls", "timeout": 11.0}, "not above 10"},
		{"no number", map[string]any{"language": "bash", "code": "ls", "timeout": "1"}, "must be a number of seconds"},
		{"a write", post, "line 3, column 8 sends a request that changes something"},
		{"no sandbox", map[string]any{"language": "bash", "code": "ls"}, "sandbox_unavailable: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r, err := newCoder(nil).run(t.Context(), agents.ToolContext{}, tc.args); err == nil || !strings.Contains(err.Error(), tc.want) && tc.name != "a write" {
				t.Errorf("got %q, %v, want %q", r.Text, err, tc.want)
			}
		})
	}
	// The gate refuses it, before the policy is asked.
	got := newCoder(nil).classify(post).Refused
	if !strings.HasPrefix(got, "code_writes: ") || !strings.Contains(got, "line 3, column 8 sends a request that changes something") {
		t.Errorf("got %q", got)
	}
	for _, code := range []string{"import sqlite3\nsqlite3.connect('x').execute('DELETE FROM t')", "import urllib.request\nurllib.request.urlopen('http://x', data=b'x')"} {
		if got := newCoder(nil).classify(map[string]any{"language": "python3", "code": code}); got.Refused == "" || len(got.Findings) == 0 {
			t.Errorf("%s: got %+v", code, got)
		}
	}
	if got := newCoder(nil).classify(map[string]any{"language": "bash", "code": "curl -X DELETE http://x/y"}).Refused; !strings.Contains(got, "line 1, column 1") {
		t.Errorf("bash: got %q", got)
	}
	if got := newCoder(nil).classify(map[string]any{"language": "python3", "code": "print(1)"}).Refused; got != "" {
		t.Errorf("print: got %q", got)
	}
}

// fileSnapshots is a database of one file, which tells when it is not in use any more.
type fileSnapshots struct {
	file, helper string
	err          error
	used         int
}

func (f *fileSnapshots) Helper() string { return f.helper }

func (f *fileSnapshots) Snapshot(context.Context) (string, func(), error) {
	if f.err != nil {
		return "", nil, f.err
	}
	f.used++
	return f.file, func() { f.used-- }, nil
}

// Languages that an operator adds run their programs from a file, which is not among the results.
func TestRunCodeLanguages(t *testing.T) {
	c := newCoder(openBox(t, sandbox.Config{}))
	extra := filepath.Join(t.TempDir(), "Extra.pm")
	if err := os.WriteFile(extra, []byte("package Extra; sub f { 42 } 1;"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Dir(extra), filepath.Dir(filepath.Dir(extra))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.languages = newLanguages([]Language{
		{Name: "node", Program: "node", Extension: "js"},
		{Name: "perl", Program: "/usr/bin/perl", Extension: "pl", Paths: []string{filepath.Dir(extra)}},
		{Name: "missing", Program: "no-such-program", Extension: "x"},
		{Name: "lost", Program: "perl", Extension: "pl", Paths: []string{"/no/such/path"}},
	})
	for _, tc := range []struct{ name, language, code, want, err string }{
		{"node", "node", "require('fs').writeFileSync('out', 'x'); console.log([1, 2, 3].reduce((a, b) => a + b))", `"stdout":"6\n"`, ""},
		{"its files", "node", "require('fs').writeFileSync('out', 'x')", `"files":[{"path":"out","size":1}]`, ""},
		{"perl", "perl", "print join(',', map { $_ * 2 } 1..3), \"\\n\"", `"stdout":"2,4,6\n"`, ""},
		{"a path", "perl", "use lib '" + filepath.Dir(extra) + "'; use Extra; print Extra::f()", `"stdout":"42"`, ""},
		{"no program", "missing", "x", "", "starting no-such-program: it is not installed, or not visible in the sandbox"},
		{"no path", "lost", "x", "", "/no/such/path"},
		{"unknown", "ruby", "x", "", `"ruby" is unknown: use bash, lost, missing, node, perl, python3 or sql`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"language": tc.language, "code": tc.code})
			if err != nil && (tc.err == "" || !strings.Contains(err.Error(), tc.err)) || err == nil && tc.err != "" || !strings.Contains(res.Text, tc.want) {
				t.Errorf("got %q, %v, want %q %s", res.Text, err, tc.want, tc.err)
			}
		})
	}
	// The scanner reads them too.
	for language, code := range map[string]string{
		"node": "fetch('http://x/y', {method: 'POST', body: 'z'})",
		"perl": "use LWP::UserAgent; LWP::UserAgent->new->post('http://x/y', {});",
	} {
		t.Logf("%s: %+v", language, c.classify(map[string]any{"language": language, "code": code}).Findings)
	}
	if got := c.classify(map[string]any{"language": "node", "code": "fetch('http://x/y', {method: 'POST', body: 'z'})"}).Refused; !strings.HasPrefix(got, "code_writes: ") {
		t.Errorf("a POST in node: got %q", got)
	}
}

// A program sees a snapshot, which stays as long as it runs, and goes on without one.
func TestRunCodeDatabase(t *testing.T) {
	c := newCoder(openBox(t, sandbox.Config{}))
	dir := t.TempDir()
	db := &fileSnapshots{file: filepath.Join(dir, "analytics.duckdb"), helper: filepath.Join(dir, "svc-duck")}
	for path, text := range map[string]string{db.file: "content", db.helper: "#!/bin/sh\necho \"$2 $3 $4:\" \"$5\"; cat $SVC_DATABASE; echo x 2>&- >$SVC_DATABASE"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.Database = db
	run := func(language, code string) (string, error) {
		res, err := c.run(t.Context(), agents.ToolContext{}, map[string]any{"language": language, "code": code})
		if db.used != 0 {
			t.Errorf("%s: the snapshot is still in use", language)
		}
		return res.Text, err
	}
	for _, tc := range []struct{ language, code, want string }{
		{"bash", "cat $SVC_DATABASE; echo x >$SVC_DATABASE || echo no", `"stdout":"contentno\n"`},
		{"python3", "import os; print(open(os.environ['SVC_DATABASE']).read())", `"stdout":"content\n"`},
		{"sql", "-- a comment\nSELECT 1", `"stdout":"--bytes 16384 --: -- a comment\nSELECT 1\ncontent"`},
	} {
		if got, err := run(tc.language, tc.code); err != nil || !strings.Contains(got, tc.want) || strings.Contains(got, "database_error") {
			t.Errorf("%s: got %s, %v, want %s", tc.language, got, err, tc.want)
		}
	}
	db.err = errors.New("it is away")
	if got, err := run("bash", "echo \"[$SVC_DATABASE]\""); err != nil || !strings.Contains(got, `"stdout":"[]\n"`) || !strings.Contains(got, `"database_error":"it is away"`) {
		t.Errorf("without one: got %s, %v", got, err)
	}
	if got, err := run("sql", "SELECT 1"); err == nil || !strings.Contains(err.Error(), "programs in sql need the analytical database: it is away") {
		t.Errorf("sql without one: got %s, %v", got, err)
	}
	c.Database = nil
	if got, err := run("bash", "echo \"[$SVC_DATABASE]\""); err != nil || strings.Contains(got, "database_error") {
		t.Errorf("without any: got %s, %v", got, err)
	}
}

// What would write is not even started, in SQL as in other languages.
func TestRunCodeScansSQL(t *testing.T) {
	for code, want := range map[string]string{
		"INSERT INTO t VALUES (1)":                           "line 1, column 1 changes a database",
		"SELECT 1;\n DROP TABLE t":                           "line 2, column 2 changes a database",
		"WITH x AS (SELECT 1) DELETE FROM t":                 "changes a database",
		"COPY t FROM 'x.csv'":                                "changes a database",
		"ATTACH 'other.duckdb' AS o":                         "changes a database",
		"SELECT region, sum(n) FROM sales GROUP BY region":   "",
		"SELECT 'INSERT INTO t VALUES (1)' AS the_statement": "",
		"SUMMARIZE sales":                                    "",
	} {
		got := newCoder(nil).classify(map[string]any{"language": "sql", "code": code})
		if (got.Refused == "") != (want == "") || !strings.Contains(got.Refused, want) {
			t.Errorf("%s: got %q, want %q", code, got.Refused, want)
		}
	}
}
