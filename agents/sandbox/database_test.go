package sandbox_test

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

// databaseAttacks tries all that could change the database that a program is shown, or get at another,
// and prints the name of each attempt that was successful.
//
//go:embed testdata/database_attacks.py
var databaseAttacks string

// state is what must not change.
type state struct {
	Content string
	Mode    os.FileMode
	Changed time.Time
	Names   []string
}

func stateOf(t *testing.T, file string) state {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	s := state{Content: string(content), Mode: info.Mode(), Changed: info.ModTime()}
	for _, e := range entries {
		s.Names = append(s.Names, e.Name())
	}
	return s
}

// dataFolder makes a folder that only its owner gets into, as the service's is, with a live database and
// a snapshot.
func dataFolder(t *testing.T) (home, live, snapshot string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), "home")
	live, snapshot = filepath.Join(home, "databases", "analytics.duckdb"), filepath.Join(home, "snapshots", "00000001", "analytics.duckdb")
	for file, mode := range map[string]os.FileMode{live: 0o600, snapshot: 0o444} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("the content of "+filepath.Base(filepath.Dir(file))), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	return home, live, snapshot
}

// Whatever a program tries, the snapshot stays as it is, and the live database out of reach.
func TestDatabaseIsReadOnly(t *testing.T) {
	var home, live, snapshot string
	sandboxtest.EveryMode(t, func(c *sandbox.Config) {
		home, live, snapshot = dataFolder(t)
		c.Hidden = []string{home}
	}, func(t *testing.T, box *sandbox.Box) {
		before, beforeLive := stateOf(t, snapshot), stateOf(t, live)
		r, err := box.Run(t.Context(), sandbox.Spec{
			Args:     []string{"python3", "-c", databaseAttacks},
			Env:      []string{"LIVE=" + live, "SNAPSHOTS=" + filepath.Dir(filepath.Dir(snapshot))},
			Database: &sandbox.Database{File: snapshot},
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := "read: the content of 00000001\n"; !strings.HasPrefix(r.Stdout, want) || !strings.HasSuffix(r.Stdout, "done\n") || r.Exit != 0 {
			t.Fatalf("got %+v, want the content to be read and all to be tried", r)
		}
		if r.Stdout != "read: the content of 00000001\ndone\n" {
			t.Errorf("these were successful:\n%s", r.Stdout)
		}
		if d := cmp.Diff(before, stateOf(t, snapshot)); d != "" {
			t.Errorf("the snapshot has changed (-before +after):\n%s", d)
		}
		if d := cmp.Diff(beforeLive, stateOf(t, live)); d != "" {
			t.Errorf("the live database has changed (-before +after):\n%s", d)
		}
	})
}

// A snapshot and a reader that only root may use are shown to a program of nobody's, and what was made
// for that goes.
func TestDatabaseForOthers(t *testing.T) {
	var home, snapshot, reader string
	sandboxtest.EveryMode(t, func(c *sandbox.Config) {
		home, _, snapshot = dataFolder(t)
		c.Hidden = []string{home}
		reader = filepath.Join(home, "reader-1.2")
		if err := os.WriteFile(reader, []byte("#!/bin/sh\ncat \"$SVC_DATABASE\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(snapshot, 0o400); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, box *sandbox.Box) {
		for range 2 {
			r := sh(t, box, sandbox.Spec{Database: &sandbox.Database{File: snapshot, Reader: reader}, Collect: true}, "svc-duck")
			if r.Stdout != "the content of 00000001" || len(r.Files) != 0 {
				t.Errorf("got %+v", r)
			}
		}
	})
}

// duckdb stands for the module of that name, which writes down what it was asked for.
const duckdb = `
def connect(database=":memory:", read_only=False, config=None):
    return "%s %s %s" % (database, read_only, config)
`

// Python opens the database read-only whatever it asks for, and other files and memory as it asks.
func TestPythonOpensReadOnly(t *testing.T) {
	var home, snapshot string
	sandboxtest.EveryMode(t, func(c *sandbox.Config) {
		home, _, snapshot = dataFolder(t)
		c.Hidden = []string{home}
	}, func(t *testing.T, box *sandbox.Box) {
		for name, tc := range map[string]struct{ code, want string }{
			"as it is":    {"print(duckdb.connect(db))", "DB True None"},
			"writable":    {"print(duckdb.connect(db, False))", "DB True None"},
			"by name":     {"print(duckdb.connect(read_only=False, database=db, config={}))", "DB True {}"},
			"from":        {"from duckdb import connect\nprint(connect(db, read_only=False))", "DB True None"},
			"another way": {"import os\nos.symlink(db, 'link')\nprint(duckdb.connect('./link'))", "./link True None"},
			"a path":      {"import pathlib\nprint(duckdb.connect(pathlib.Path(db)))", "DB True None"},
			"memory":      {"print(duckdb.connect())\nprint(duckdb.connect(':memory:'))", ":memory: False None\n:memory: False None"},
			"its own":     {"print(duckdb.connect('my.duckdb'))", "my.duckdb False None"},
		} {
			t.Run(name, func(t *testing.T) {
				r, err := box.Run(t.Context(), sandbox.Spec{
					Args:     []string{"python3", "-c", "import os, sys\nsys.path.insert(0, os.getcwd())\nimport duckdb\ndb = os.environ['SVC_DATABASE']\n" + tc.code},
					Files:    []sandbox.File{{Path: "duckdb.py", Content: []byte(duckdb)}},
					Database: &sandbox.Database{File: snapshot},
				})
				if err != nil {
					t.Fatal(err)
				}
				place := "/database/analytics.duckdb"
				if box.Mode() == "minimal" {
					place = snapshot
				}
				got := strings.ReplaceAll(strings.TrimSpace(r.Stdout), place, "DB")
				if os.Getuid() == 0 && box.Mode() == "minimal" { // it is a copy
					got = strings.Join(append([]string{"DB"}, strings.Fields(got)[min(1, len(strings.Fields(got))):]...), " ")
					if !strings.HasPrefix(tc.want, "DB") {
						got = strings.TrimSpace(r.Stdout)
					}
				}
				if got != tc.want {
					t.Errorf("got %q (%s), want %q", got, r.Stderr, tc.want)
				}
			})
		}
	})
}
