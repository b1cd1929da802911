package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// Database is a database that a program can read and not change, whatever it asks for: it is seen on a
// file system that is read-only, Landlock gives no right to write to it, and with a service that is root
// the program is somebody else. It finds the file in the variable [DatabaseVariable]. PYTHONPATH has a
// module with which duckdb.connect opens that file read-only by itself.
type Database struct {
	// File is the absolute path of a file that nobody changes. It is shown even if it is in a hidden
	// folder.
	File string
	// Reader is the absolute path of svc-duck, which is in PATH then. Empty: there is none.
	Reader string
}

// Where the database and what belongs to it are seen in a sandbox that has mounts. In minimal mode they
// are seen at their own places.
const (
	databaseFile   = "/database/analytics.duckdb"
	databaseReader = "/database/bin/" + ReaderName
	databasePython = "/database/python"
)

// DatabaseVariable is the variable with the path of the database. It is the same as that of package
// duckwire, which a test of the reader holds.
const DatabaseVariable = "SVC_DATABASE"

// ReaderName is what programs call the reader, whatever its file is called.
const ReaderName = "svc-duck"

// addDatabase shows the database. release removes what was made for this program.
func (b *Box) addDatabase(req *wire.Request, d Database) (release func(), err error) {
	file, release, err := b.lent.file(d.File, b.mode)
	if err != nil {
		return nil, fmt.Errorf("showing the database: %w", err)
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	python, err := b.lent.python()
	if err != nil {
		return nil, fmt.Errorf("making the module for Python: %w", err)
	}
	show := func(source, target string) string {
		if b.mode == wire.Minimal {
			target = source
		}
		req.Binds = append(req.Binds, wire.Bind{Source: source, Target: target})
		return target
	}
	addVariable(req, DatabaseVariable, show(file, databaseFile))
	addVariable(req, "PYTHONPATH", show(python, databasePython))
	if d.Reader != "" {
		reader, folder, err := b.lent.program(d.Reader, ReaderName, b.mode)
		if err != nil {
			return nil, fmt.Errorf("showing %s: %w", d.Reader, err)
		}
		if show(reader, databaseReader) == databaseReader {
			folder = filepath.Dir(databaseReader)
		}
		addVariable(req, "PATH", folder)
	}
	return release, nil
}

// addVariable adds to a list of folders in the environment, or makes it. A variable that is set wins
// where it is no list.
func addVariable(req *wire.Request, name, value string) {
	for i, e := range req.Env {
		if old, ok := strings.CutPrefix(e, name+"="); ok {
			if old != "" {
				value = old + ":" + value
			}
			req.Env[i] = name + "=" + value
			return
		}
	}
	req.Env = append(req.Env, name+"="+value)
}
