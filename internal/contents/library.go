package contents

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// npm stands for the folder of npm in the names of folders.
const npm = "@npm"

// library is where files are read from.
type library struct {
	goroot, npm, project string
}

func newLibrary() *library {
	l := &library{goroot: goroot()}
	for _, dir := range []string{"/usr/lib/node_modules/npm", "/usr/local/lib/node_modules/npm", "/opt/homebrew/lib/node_modules/npm", "/usr/share/nodejs/npm"} {
		if _, err := os.Stat(dir); err == nil {
			l.npm = dir
			break
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		l.project = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	return l
}

// goroot is the folder of Go: the one that a test is given, or the usual one.
func goroot() string {
	for _, dir := range []string{os.Getenv("GOROOT"), "/usr/local/go", "/usr/lib/go", "/usr/lib/golang", "/opt/homebrew/opt/go/libexec"} {
		if _, err := os.Stat(filepath.Join(dir, "src", "runtime")); dir != "" && err == nil {
			return dir
		}
	}
	return ""
}

func (l *library) goSource() string {
	return l.read(".go", "src/net/http", "src/go/types", "src/encoding/json")
}

func (l *library) javaScript() string {
	return l.read(".js .cjs .mjs", npm+"/lib", npm+"/node_modules", "lib/wasm", "misc", "src/internal/trace/traceviewer/static")
}

// markdown is this project's own documentation.
func (l *library) markdown() string {
	return l.read(".md", filepath.Join(l.project, "docs"), filepath.Join(l.project, "README.md"))
}

// read reads files whose names end so, in the order of their names, until there is enough. Places are
// files and folders; those that do not begin with a slash are Go's.
func (l *library) read(endings string, places ...string) string {
	var b strings.Builder
	for _, place := range places {
		for _, root := range l.roots(place) {
			// What cannot be read is not there: a kind that has too little is left out.
			_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !ends(path, endings) {
					return nil
				}
				b.WriteString(contentOf(path))
				if b.Len() >= Size {
					return fs.SkipAll
				}
				return nil
			})
		}
		if b.Len() >= Size {
			break
		}
	}
	return b.String()
}

// roots returns the places that a name means.
func (l *library) roots(place string) []string {
	if rest, ok := strings.CutPrefix(place, npm); ok {
		if l.npm == "" {
			return nil
		}
		place = l.npm + rest
	} else if !filepath.IsAbs(place) {
		if l.goroot == "" {
			return nil
		}
		place = filepath.Join(l.goroot, place)
	}
	list, err := filepath.Glob(place)
	if err != nil {
		return nil
	}
	return list
}

func ends(path, endings string) bool {
	return endings == "*" || slices.ContainsFunc(strings.Fields(endings), func(end string) bool { return strings.HasSuffix(path, end) })
}

// contentOf returns what is in a file, also in a compressed one; nothing unless it is text.
func contentOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return ""
		}
	}
	content, err := io.ReadAll(io.LimitReader(r, Size))
	if text := string(content); err == nil && utf8.ValidString(cut(text)) {
		return text
	}
	return ""
}

// cut returns the text as long as it may be.
func cut(text string) string {
	if len(text) <= Size {
		return text
	}
	n := Size
	for n > Size-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
