package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// place is where texts are on many machines that nobody wrote for this.
type place struct {
	source string
	what   string // for the card
	root   string
	is     func(path string) bool
	group  int // elements of the path below the root that texts of one group share
	most   int // texts
}

const (
	maxText = 16 << 10 // bytes of a text that are read
	minText = 200
)

func ending(ends ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(ends, filepath.Ext(path)) }
}

// instructions are files that tell a coding agent how to work on a project.
func instructions(path string) bool {
	switch strings.ToLower(filepath.Base(path)) {
	case "agents.md", "claude.md", "gemini.md", "copilot-instructions.md", ".cursorrules":
		return true
	}
	return false
}

func places() []place {
	goroot, cache := goEnv("GOROOT"), goEnv("GOMODCACHE")
	prose := func(path string) bool { return ending(".md", ".txt", ".rst")(path) && !instructions(path) }
	return []place{
		{"goroot_docs", "documentation of Go", goroot, ending(".md", ".html", ".txt"), 2, 2000},
		{"goroot_code", "source of Go", filepath.Join(goroot, "src"), ending(".go"), 1, 2500},
		{"modules_docs", "documentation of Go modules", cache, prose, 2, 3000},
		{"modules_code", "source of Go modules", cache, ending(".go"), 2, 2500},
		{"agents_md", "AGENTS.md and the like of Go modules", cache, instructions, 2, 500},
		{"node_docs", "documentation of Node.js packages", "/usr/lib/node_modules", ending(".md", ".html", ".txt"), 3, 2500},
		{"node_code", "source of Node.js packages", "/usr/lib/node_modules", ending(".js", ".ts", ".json"), 3, 2500},
		{"nodejs_docs", "documentation of Node.js", "/usr/share/doc/nodejs", ending(".md", ".html", ".txt"), 1, 500},
		{"man", "manual pages, some of them in other languages", "/usr/share/man", func(path string) bool {
			return ending(".gz")(path) && (!strings.HasPrefix(filepath.Base(path), "gcloud") || hash(path)%20 == 0)
		}, 2, 9000},
		{"debian_docs", "documentation and changelogs of Debian packages", "/usr/share/doc", func(path string) bool {
			return !strings.HasPrefix(path, "/usr/share/doc/nodejs/") && (ending(".md", ".html", ".txt", ".gz")(path) || strings.HasPrefix(filepath.Base(path), "README"))
		}, 1, 3500},
		{"python", "source of Python programs", "/usr/lib/python3", ending(".py", ".rst"), 3, 1500},
		{"project_docs", "documentation of this project", ".", func(path string) bool {
			return filepath.Ext(path) == ".md" && path != cardFile && !strings.Contains(path, "node_modules")
		}, 2, 500},
	}
}

// groupOf names what the texts of one group share: folders, and of names without folders their first part,
// such as git of git-add.1.gz.
func (p place) groupOf(path string) string {
	rel, _ := filepath.Rel(p.root, path) // is below it
	parts := strings.Split(rel, "/")
	if p.source == "man" {
		return strings.FieldsFunc(parts[len(parts)-1]+".", func(r rune) bool { return strings.ContainsRune("-_.", r) })[0]
	}
	return strings.Join(parts[:min(p.group, len(parts)-1)], "/")
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "" // the place is not there
	}
	return strings.TrimSpace(string(out))
}

// texts reads the texts of a place, those whose paths have the smallest hashes when there are too many.
func (p place) texts(most int) []*doc {
	var paths []string
	_ = filepath.WalkDir(p.root, func(path string, e fs.DirEntry, err error) error { // what cannot be read is not there
		switch {
		case err != nil:
			return nil
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "build"):
			return fs.SkipDir
		case e.Type().IsRegular() && p.is(path):
			paths = append(paths, path)
		}
		return nil
	})
	slices.SortFunc(paths, func(a, b string) int {
		if x, y := hash(a), hash(b); x != y {
			if x < y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var docs []*doc
	for _, path := range paths[:min(most, len(paths))] {
		text, ok := readText(path)
		if !ok {
			continue
		}
		docs = append(docs, &doc{source: p.source, group: p.source + "/" + p.groupOf(path), text: text})
	}
	return docs
}

// roff are the requests and escapes of manual pages, which those who read one do not see.
var roff = regexp.MustCompile(`(?m)^[.'](\\".*|[A-Za-z]{1,3}\b ?)|\\f(?:\[[A-Z]*\]|\([A-Z]{2}|[A-Z0-9])|\\[&|^/,]`)

// readText reads a text, of a manual page as it is shown.
func readText(path string) (string, bool) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", false
	}
	defer f.Close()
	var in io.Reader = f
	packed := strings.HasSuffix(path, ".gz")
	if packed {
		if in, err = gzip.NewReader(f); err != nil {
			return "", false
		}
	}
	text, err := io.ReadAll(io.LimitReader(in, maxText))
	if err != nil || len(text) < minText || bytes.IndexByte(text, 0) >= 0 {
		return "", false
	}
	for !utf8.Valid(text) && len(text) > minText && !utf8.Valid(text[:len(text)-1]) { // the last character is cut
		if text = text[:len(text)-1]; len(text) < maxText-utf8.UTFMax {
			break
		}
	}
	s := strings.ToValidUTF8(string(text), "")
	if packed && strings.Contains(path, "/man/") {
		s = strings.ReplaceAll(roff.ReplaceAllString(s, ""), `\-`, "-")
	}
	return s, true
}
