//go:build cgo && linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
	"github.com/svc-gateway/svc/internal/ducktest"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// hostileEnv makes the test's own program one that an attacker has written: it has DuckDB, without any
// of the helper's layers, and tries to write to the database of its sandbox.
const hostileEnv = "SVC_TEST_HOSTILE"

// hostile are the ways to open a database and what is run there. DB is the path of the database, LIVE that
// of the one that the snapshot was made of.
var hostile = []struct{ dsn, sql string }{
	{"DB?access_mode=READ_ONLY", "SELECT n FROM t"}, // which is what it is for
	{"DB?access_mode=READ_WRITE", "INSERT INTO t VALUES (3)"},
	{"DB", "INSERT INTO t VALUES (3)"},
	{"DB?access_mode=AUTOMATIC", "DROP TABLE t"},
	{"DB?access_mode=READ_ONLY", "INSERT INTO t VALUES (3)"},
	{"DB?access_mode=READ_ONLY", "COPY (SELECT 1) TO 'DB' (FORMAT csv)"},
	{"DB?access_mode=READ_ONLY", "COPY (SELECT 1) TO 'DB' (FORMAT csv, USE_TMP_FILE false)"},
	{"DB?access_mode=READ_ONLY", "EXPLAIN ANALYZE COPY (SELECT 1) TO 'DB' (FORMAT csv, USE_TMP_FILE false)"},
	{"DB?access_mode=READ_ONLY", "COPY (SELECT 1) TO 'DB.wal' (FORMAT csv, USE_TMP_FILE false)"},
	{"DB?access_mode=READ_ONLY", "COPY (SELECT 1) TO '/proc/self/fd/3' (FORMAT csv, USE_TMP_FILE false)"},
	{"DB?access_mode=READ_ONLY", "EXPORT DATABASE 'FOLDER/exported'"},
	{"", "ATTACH 'DB' AS x (READ_WRITE); INSERT INTO x.t VALUES (3)"},
	{"", "ATTACH 'DB' AS x; INSERT INTO x.t VALUES (3)"},
	{"", "ATTACH 'DB' AS x (READ_ONLY); INSERT INTO x.t VALUES (3)"},
	{"", "COPY (SELECT 1) TO 'DB' (FORMAT parquet)"},
	{"", "COPY (SELECT 1) TO 'FOLDER/beside.csv'"},
	{"", "ATTACH 'LIVE' AS x"},
	{"", "ATTACH 'LIVE' AS x (READ_ONLY)"},
	{"", "SELECT content FROM read_blob('LIVE')"},
	{"", "COPY (SELECT 1) TO 'LIVE' (FORMAT csv)"},
	{"LIVE", "SELECT 1"},
	{"LIVE?access_mode=READ_ONLY", "SELECT 1"},
}

// attackFromWithin makes every attempt in a process of its own, because some end that, and prints what was
// successful.
func attackFromWithin() {
	if n, err := strconv.Atoi(os.Getenv(hostileEnv)); err == nil {
		if err := attackOnce(hostile[n].dsn, hostile[n].sql); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	for i, a := range hostile {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), hostileEnv+"="+strconv.Itoa(i))
		if cmd.Run() == nil {
			fmt.Println(a.dsn, a.sql)
		}
	}
	fmt.Println("done")
}

func attackOnce(dsn, statement string) error {
	names := strings.NewReplacer("DB", snapshotFile(), "FOLDER", filepath.Dir(snapshotFile()), "LIVE", os.Getenv("SVC_TEST_LIVE"))
	db, err := sql.Open("duckdb", names.Replace(dsn))
	if err != nil {
		return err
	}
	if strings.HasPrefix(statement, "SELECT") {
		var found []byte
		return db.QueryRow(names.Replace(statement)).Scan(&found)
	}
	_, err = db.Exec(names.Replace(statement))
	return errors.Join(err, db.Close())
}

// publicFolder is a folder that every user can get into, with a copy of this program and of the helpers.
func publicFolder(t *testing.T) (dir, self, duck string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "duck")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self, duck = filepath.Join(dir, "test"), filepath.Join(dir, "svc-duck")
	for from, to := range map[string]string{program: self, ducktest.Helper(t): duck} {
		r, err := os.Open(from)
		if err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
		if err == nil {
			_, err = io.Copy(w, r)
		}
		if err := errors.Join(err, w.Close(), r.Close(), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := sandboxtest.Build(filepath.Join(dir, "svc-sandbox"), ""); err != nil {
		t.Fatal(err)
	}
	return dir, self, duck
}

// inDir has the test as an ordinary user use what root has put there.
const inDir = "SVC_TEST_DUCK_DIR"

// Code that somebody hostile has written, with DuckDB in it, can read the snapshot and nothing else, in
// every mode, as root and as an ordinary user; and svc-duck answers there.
func TestSandbox(t *testing.T) {
	if dir := os.Getenv(inDir); dir != "" {
		testSandbox(t, dir, filepath.Join(dir, "test"), filepath.Join(dir, "svc-duck"))
		return
	}
	dir, self, duck := publicFolder(t)
	testSandbox(t, dir, self, duck)
	if os.Geteuid() == 0 {
		cmd := exec.Command(self, "-test.run=^TestSandbox$", "-test.v")
		cmd.Dir, cmd.Env = "/", append(os.Environ(), inDir+"="+dir, "HOME=/nonexistent")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as nobody: %v\n%s", err, out)
		}
	}
}

func testSandbox(t *testing.T, programs, self, duck string) {
	home, err := os.MkdirTemp("", "home") // for its owner only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	live, snapshot := filepath.Join(home, "live.duckdb"), filepath.Join(home, "snapshot.duckdb")
	for _, path := range []string{live, snapshot} {
		db, err := sql.Open("duckdb", path)
		if err == nil {
			_, err = db.Exec("CREATE TABLE t AS SELECT * FROM range(1, 3) r(n)")
			err = errors.Join(err, db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(snapshot, 0o444); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"full", "rooted", "minimal"} {
		t.Run(mode, func(t *testing.T) {
			if mode == "rooted" && os.Geteuid() != 0 {
				return
			}
			run, err := os.MkdirTemp("", "sb")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.RemoveAll(run) }()
			if err := os.Chmod(run, 0o711); err != nil {
				t.Fatal(err)
			}
			box, err := sandbox.OpenMode(t.Context(), sandbox.Config{Helper: filepath.Join(programs, "svc-sandbox"), Dir: run, Hidden: []string{home}}, mode)
			sandboxtest.Check(t, mode, err)
			defer box.Close()
			database := &sandbox.Database{File: snapshot, Reader: duck}
			r, err := box.Run(t.Context(), sandbox.Spec{
				Args: []string{self}, Binds: []sandbox.Bind{{Source: self}}, Env: []string{hostileEnv + "=all", "SVC_TEST_LIVE=" + live},
				Database: database,
			})
			if err != nil || r.Exit != 0 || r.Stdout != "DB?access_mode=READ_ONLY SELECT n FROM t\ndone\n" {
				t.Errorf("something else was successful: %+v, %v", r, err)
			}
			if after, err := os.ReadFile(snapshot); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the snapshot has changed (%v)", err)
			}
			names, err := filepath.Glob(filepath.Join(home, "*"))
			if err != nil || len(names) != 2 {
				t.Errorf("got %v, %v beside the snapshot", names, err)
			}
			for _, tc := range []struct{ name, sql, out, err string }{
				{"an answer", "SELECT sum(n) AS s FROM t", "{\"columns\":[{\"name\":\"s\",\"type\":\"HUGEINT\"}],\n\"rows\":[\n[3]\n],\"row_count\":1}\n", ""},
				{"control characters", "SELECT chr(155) || chr(127) || 'ü' || chr(27) AS c", "{\"columns\":[{\"name\":\"c\",\"type\":\"VARCHAR\"}],\n\"rows\":[\n[\"\\u009b\\u007fü\\u001b\"]\n],\"row_count\":1}\n", ""},
				{"a mistake", "SELECT\n nope FROM t", "", "svc-duck: line 2, column 2: Binder: Referenced column \"nope\" not found"},
				{"a write", "INSERT INTO t VALUES (3)", "", "the database is read-only"},
				{"a file", "SELECT * FROM read_text('/etc/passwd')", "", "disabled"},
				{"memory", "SELECT list(repeat('x', 1000) || i) FROM range(10000000) r(i)", "", "memory"},
			} {
				t.Run(tc.name, func(t *testing.T) {
					r, err := box.Run(t.Context(), sandbox.Spec{Args: []string{"svc-duck", "sql", tc.sql}, Database: database, Timeout: 20 * time.Second})
					if err != nil || r.Stdout != tc.out || !strings.Contains(r.Stderr, tc.err) || (r.Exit == 0) != (tc.err == "") {
						t.Errorf("got %+v, %v, want %q %q", r, err, tc.out, tc.err)
					}
				})
			}
			for _, script := range []string{"echo 'SELECT count(*) AS n FROM t' | svc-duck sql", "svc-duck sql --rows 1 -- 'SELECT n FROM t ORDER BY n'"} {
				r, err := box.Run(context.WithoutCancel(t.Context()), sandbox.Spec{Args: []string{"bash", "-c", script}, Database: database})
				var doc struct{ Rows [][]int }
				if err != nil || json.Unmarshal([]byte(r.Stdout), &doc) != nil || len(doc.Rows) != 1 {
					t.Errorf("%s: got %+v, %v", script, r, err)
				}
			}
		})
	}
}

func TestVariableIsTheSandboxes(t *testing.T) {
	if sandbox.DatabaseVariable != duckwire.DatabaseVariable {
		t.Errorf("the sandbox says %s, svc-duck reads %s", sandbox.DatabaseVariable, duckwire.DatabaseVariable)
	}
}

// Without a sandbox there is nothing to ask.
func TestStatementErrors(t *testing.T) {
	for _, tc := range []struct {
		args []string
		db   string
		want string
	}{
		{[]string{"SELECT 1"}, "", "svc-duck: there is no database here: the variable SVC_DATABASE is not set\n"},
		{[]string{"SELECT", "1"}, "x", "svc-duck: write the statement as one argument, in quotes\n"},
		{nil, "x", "svc-duck: there is no statement: write one as the argument, or to the input\n"},
		{[]string{"--rows", "x", "SELECT 1"}, "x", "svc-duck: invalid value \"x\" for flag -rows: parse error\n"},
		{[]string{"--rows", "0", "SELECT 1"}, "x", "svc-duck: the question has no limits"},
	} {
		t.Setenv(duckwire.DatabaseVariable, tc.db)
		var out, errs strings.Builder
		if code := statement(tc.args, strings.NewReader(" "), &out, &errs); code != 1 || out.String() != "" || !strings.HasPrefix(errs.String(), tc.want) {
			t.Errorf("%q: got %d, %q, want %q", tc.args, code, errs.String(), tc.want)
		}
	}
}
