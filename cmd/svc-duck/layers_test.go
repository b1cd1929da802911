//go:build cgo && linux

package main

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/landlock-lsm/go-landlock/landlock"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// The layers that keep a statement from doing more than asking, each switched on alone.
const (
	layerKind     = "kind"     // the parser's kind of the statement
	layerSettings = "settings" // the database's own: read-only, no external access, locked
	layerKernel   = "kernel"   // Landlock, seccomp, limits
	layerTime     = "time"     // the clock
	layerAll      = "all"
)

// attack is a statement, the layers that stop it, and what it would do.
type attack struct {
	name   string
	sql    string
	layers []string
	// happened reports the effect in the folder; nil: a statement without an error or without rows
	// has had none.
	happened func(dir string) bool
}

func wrote(name string) func(string) bool {
	return func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
}

// grew reports whether the database file is another one than before.
func grew(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, duckwire.DatabaseFile))
	sum, serr := os.ReadFile(filepath.Join(dir, "before"))
	return err != nil || serr != nil || !bytes.Equal(text, sum)
}

var attacks = []attack{
	{"copy over the file", "COPY (SELECT 1) TO '" + duckwire.DatabaseFile + "' (FORMAT csv)", []string{layerKind, layerSettings, layerKernel}, grew},
	{"copy to a new file", "COPY (SELECT 1) TO 'out.csv'", []string{layerKind, layerSettings, layerKernel}, wrote("out.csv")},
	// The settings let a statement write to the file that is open, and to the files beside it.
	{"copy over the file at once", "COPY (SELECT 1) TO '" + duckwire.DatabaseFile + "' (FORMAT csv, USE_TMP_FILE false)", []string{layerKind, layerKernel}, grew},
	{"explain analyze copy over the file", "EXPLAIN ANALYZE COPY (SELECT 1) TO '" + duckwire.DatabaseFile + "' (FORMAT csv, USE_TMP_FILE false)", []string{layerKind, layerKernel}, grew},
	{"copy beside the file", "COPY (SELECT 1) TO '" + duckwire.DatabaseFile + ".wal' (FORMAT csv, USE_TMP_FILE false)", []string{layerKind, layerKernel}, wrote(duckwire.DatabaseFile + ".wal")},
	{"explain analyze copy", "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'", []string{layerKind, layerSettings, layerKernel}, wrote("out.csv")},
	{"explain an explanation", "EXPLAIN EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'", []string{layerKind, layerSettings, layerKernel}, wrote("out.csv")},
	{"attach another file", "ATTACH 'other.duckdb' AS o", []string{layerKind, layerSettings, layerKernel}, wrote("other.duckdb")},
	{"attach and write", "ATTACH 'other.duckdb' AS o; CREATE TABLE o.x AS SELECT 1", []string{layerKind, layerSettings, layerKernel}, wrote("other.duckdb")},
	{"install", "INSTALL httpfs", []string{layerKind, layerSettings, layerKernel}, nil},
	{"load", "LOAD '/tmp/evil.duckdb_extension'", []string{layerKind, layerSettings, layerKernel}, nil},
	{"undo external access", "SET enable_external_access = true", []string{layerKind, layerSettings}, nil},
	{"undo the lock", "RESET lock_configuration", []string{layerKind, layerSettings}, nil},
	{"pragma", "PRAGMA temp_directory='/tmp'", []string{layerKind, layerSettings}, nil},
	{"read a file as csv", "SELECT * FROM read_csv('/etc/passwd')", []string{layerSettings, layerKernel}, nil},
	{"read a file by its name", "SELECT * FROM '/etc/passwd.csv'", []string{layerSettings, layerKernel}, nil},
	{"read a file as text", "SELECT content FROM read_text('/etc/passwd')", []string{layerSettings, layerKernel}, nil},
	{"list files", "SELECT * FROM glob('/etc/pass*')", []string{layerSettings, layerKernel}, nil},
	{"read the environment", "SELECT getenv('PATH')", []string{layerSettings, layerKernel}, nil}, // not linked, and it is empty
	{"write behind WITH", "WITH x AS (SELECT 3 AS n) INSERT INTO t SELECT n FROM x", []string{layerKind, layerSettings, layerKernel}, grew},
	{"write within WITH", "WITH x AS (INSERT INTO t VALUES (3) RETURNING n) SELECT * FROM x", []string{layerKind, layerSettings, layerKernel}, grew},
	{"several statements", "SELECT 1; DROP TABLE t", []string{layerKind, layerSettings, layerKernel}, grew},
	{"export", "EXPORT DATABASE 'exported'", []string{layerSettings, layerKernel}, wrote("exported")}, // preparing it makes the folder
	{"keep a secret", "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')", []string{layerKind, layerSettings, layerKernel}, nil},
	{"fetch", "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')", []string{layerSettings, layerKernel}, nil},
	{"without end", "SELECT count(*) FROM range(1000000000000) a, range(1000000) b", []string{layerTime, layerKernel}, nil},
	{"eat memory", "SELECT list(repeat('x', 1000) || i) FROM range(100000000) r(i)", []string{layerSettings, layerKernel}, nil},
}

// layerEnv makes the test's own program a child that runs one attack with one layer.
const layerEnv = "SVC_TEST_LAYER"

func TestMain(m *testing.M) {
	if os.Getenv(hostileEnv) != "" {
		attackFromWithin()
		os.Exit(0)
	}
	if layer := os.Getenv(layerEnv); layer != "" {
		if layer == "seccomp" || layer == "landlock" {
			fmt.Println(probe(layer))
			os.Exit(0)
		}
		fmt.Println(attempt(layer, os.Getenv("SVC_TEST_SQL")))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// attempt runs a statement in the working directory with only one layer in place.
func attempt(layer, sql string) (said string) {
	q := duckwire.Query{SQL: sql, Rows: 10, Bytes: 10 << 10, Time: 500 * time.Millisecond, Memory: 64 << 20, Threads: 2}
	if layer == layerAll {
		a := answer(q)
		if a.Fault != nil {
			return "error: " + a.Fault.Code + ": " + a.Fault.Error()
		}
		return fmt.Sprintf("%d rows", len(a.Rows))
	}
	ctx := context.Background()
	dsn := duckwire.DatabaseFile
	if layer == layerKernel {
		if _, err := confineQuery(duckwire.DatabaseFile, q); err != nil {
			return "error: " + err.Error()
		}
		dsn += "?access_mode=READ_ONLY" // a file that cannot be written to opens no other way
	}
	var setup func(driver.ExecerContext) error
	if layer == layerSettings {
		dsn, setup = dsn+"?"+readOnly(q).Encode(), lockDown
	}
	if layer == layerTime {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, q.Time)
		defer cancel()
	}
	connector, err := duckdb.NewConnector(dsn, setup)
	if err != nil {
		return "error: " + err.Error()
	}
	defer connector.Close()
	c, err := connector.Connect(ctx)
	if err != nil {
		return "error: " + err.Error()
	}
	defer c.Close()
	conn := c.(*duckdb.Conn)
	if layer == layerKind {
		stmt, err := prepare(conn, sql)
		if err != nil {
			return "error: " + err.Error()
		}
		return fmt.Sprint("taken", stmt.Close())
	}
	rows, err := conn.QueryContext(ctx, sql, nil)
	if err != nil {
		return "error: " + err.Error()
	}
	defer rows.Close()
	values, n := make([]driver.Value, len(rows.Columns())), 0
	for rows.Next(values) == nil {
		n++
	}
	return fmt.Sprintf("%d rows", n)
}

// folder makes one with a small database.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	connector, err := duckdb.NewConnector(duckwire.DatabaseFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := connector.Connect(t.Context())
	if err == nil {
		_, err = c.(*duckdb.Conn).ExecContext(t.Context(), "CREATE TABLE t AS SELECT 1 AS n; CHECKPOINT", nil)
	}
	if err = errors.Join(err, c.Close(), connector.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(duckwire.DatabaseFile)
	if err == nil {
		err = os.WriteFile("before", text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// child runs a statement with one layer and returns what it says; a child that was killed says so.
func child(t *testing.T, layer, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = []string{layerEnv + "=" + layer, "SVC_TEST_SQL=" + sql, "HOME=" + t.TempDir()}
	out, err := cmd.Output()
	if ctx.Err() != nil {
		t.Fatalf("%s: %s: still running after a minute", layer, sql)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.TrimSpace(string(out))
}

// Every attack is stopped by each of its layers alone, and by two at least.
func TestLayers(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			if len(a.layers) < 2 {
				t.Errorf("one layer only: %v", a.layers)
			}
			for _, layer := range a.layers {
				dir := folder(t)
				said := child(t, layer, a.sql)
				t.Logf("%s: %s", layer, said)
				if a.happened != nil && a.happened(dir) || a.happened == nil && !harmless(said, a) {
					t.Errorf("%s: it happened: %s", layer, said)
				}
			}
			if dir, said := folder(t), child(t, layerAll, a.sql); !strings.HasPrefix(said, "error: ") || a.happened != nil && a.happened(dir) {
				t.Errorf("with all layers: got %s", said)
			}
		})
	}
}

// harmless reports whether what a statement says means that nothing was done.
func harmless(said string, a attack) bool {
	return strings.HasPrefix(said, "error: ") || said == "0 rows" && strings.HasPrefix(a.sql, "SELECT")
}

// Without any layer the attacks on files work: the test would notice a layer that does nothing.
func TestAttacksWorkWithoutLayers(t *testing.T) {
	for _, a := range attacks {
		if a.happened == nil {
			continue
		}
		dir := folder(t)
		if said := child(t, "nothing", a.sql); !a.happened(dir) && !strings.Contains(said, "Parser Error") {
			t.Errorf("%s: nothing happened: %s", a.name, said)
		}
	}
}

// The filter of system calls is enough by itself to keep a process from changing anything, and Landlock
// to keep it from reading anything else.
func TestKernelLayersAlone(t *testing.T) {
	for _, layer := range []string{"seccomp", "landlock"} {
		dir := folder(t)
		for _, line := range strings.Split(child(t, layer, ""), "\n") {
			if !strings.HasSuffix(line, ": ok") {
				t.Errorf("%s: %s", layer, line)
			}
		}
		if wrote("created")(dir) || grew(dir) {
			t.Errorf("%s: files were changed", layer)
		}
	}
}

// probe tries with one layer of the kernel what it must not allow.
func probe(layer string) string {
	must := map[string]func() error{
		"create": func() error { return os.WriteFile("created", nil, 0o600) },
		"write":  func() error { return os.WriteFile(duckwire.DatabaseFile, []byte("x"), 0o600) },
		"remove": func() error { return os.Remove("before") },
		"rename": func() error { return os.Rename("before", "after") },
		"folder": func() error { return os.Mkdir("folder", 0o700) },
		"link":   func() error { return os.Symlink("before", "symlink") },
	}
	var err error
	if layer == "seccomp" {
		for name, f := range map[string]func() error{
			"chmod":  func() error { return os.Chmod("before", 0o777) },
			"cut":    func() error { return os.Truncate("before", 0) },
			"start":  func() error { return exec.Command("/bin/true").Run() },
			"socket": func() error { _, err := net.Dial("udp", "127.0.0.1:9"); return err },
			"unix":   func() error { _, err := net.Listen("unix", "socket"); return err },
			"signal": func() error { return syscall.Kill(os.Getppid(), 0) },
			"trace":  func() error { return syscall.PtraceAttach(os.Getppid()) },
			"memory": func() error {
				_, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_EXEC, syscall.MAP_ANON|syscall.MAP_PRIVATE)
				return err
			},
		} {
			must[name] = f
		}
		err = filterCalls()
	} else {
		must["read"] = func() error { _, err := os.ReadFile("/etc/passwd"); return err }
		must["list"] = func() error { _, err := os.ReadDir("/etc"); return err }
		_, err = confineFiles(landlock.ROFiles(duckwire.DatabaseFile))
	}
	if err != nil {
		return "confining: " + err.Error()
	}
	var lines []string
	for name, f := range must {
		if err := f(); err == nil {
			lines = append(lines, name+": it worked")
		}
	}
	return strings.Join(append(lines, "all: ok"), "\n")
}
