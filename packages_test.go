package svc_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/svc-gateway/svc"

// listed is what go list says of one package.
type listed struct {
	ImportPath, Dir, Name              string
	Standard                           bool
	GoFiles, TestGoFiles, XTestGoFiles []string
	CgoFiles                           []string
	Imports, Deps                      []string
}

// name is the package's path within the repository, "." for the root.
func (p listed) name() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// packages are all packages of the repository.
var packages = sync.OnceValues(func() ([]listed, error) {
	return goList("-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles,Imports,Deps", "./...")
})

func goList(args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-tags=nobadger,nomysql,nopgx"}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // so that cgo is seen where there is some
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return nil, errors.New(string(exit.Stderr))
		}
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
}

func repository(t *testing.T) []listed {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	if len(all) == 0 {
		t.Fatal("there are no packages")
	}
	return all
}

// A package without a comment has no place where its guarantees stand.
func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range repository(t) {
		files := append(append(p.GoFiles, p.TestGoFiles...), p.XTestGoFiles...)
		if !documented(t, p, files) {
			t.Errorf("%s: no file has a package comment that begins with %q", p.name(), opening(p))
		}
	}
}

func opening(p listed) string {
	if p.Name == "main" {
		return "Command " + filepath.Base(p.Dir) + " "
	}
	return "Package " + p.Name + " "
}

func documented(t *testing.T, p listed, files []string) bool {
	t.Helper()
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Errorf("reading %s: %v", file, err)
			continue
		}
		if parsed.Doc != nil && strings.HasPrefix(parsed.Doc.Text(), opening(p)) {
			return true
		}
	}
	return false
}
