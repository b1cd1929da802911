package tools

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/scanner/command"
)

// Language is a language that programs can be written in, beside those that are built in.
type Language struct {
	Name      string   // as callers call it
	Program   string   // that runs a file: its absolute path, or its name in the sandbox
	Extension string   // of that file, without a dot
	Paths     []string // files and folders of the host that the program needs beside those that all see
}

// language is how programs are run and read.
type language struct {
	args     []string // before the program, or before the file that it is in
	file     string   // that the program is in; empty: it is an argument
	paths    []string
	scan     command.Language
	database bool // there is nothing to do without the database
}

// sqlBytes is how long the rows of a statement may be, so that the answer is whole.
const sqlBytes = codeOutput * 2 / 3

var builtin = map[string]language{
	"bash":    {args: []string{"bash", "-c"}, scan: command.Shell},
	"python3": {args: []string{"python3", "-c"}, scan: command.Python},
	"sql":     {args: []string{sandbox.ReaderName, "sql", "--bytes", strconv.Itoa(sqlBytes), "--"}, scan: command.SQL, database: true},
}

// scanned are the languages that the scanner reads, by the endings of their files. It finds out others
// by itself.
var scanned = map[string]command.Language{
	"sh": command.Shell, "bash": command.Shell, "py": command.Python, "sql": command.SQL,
	"js": command.JavaScript, "mjs": command.JavaScript, "cjs": command.JavaScript, "jsx": command.JavaScript,
	"ts": command.JavaScript, "mts": command.JavaScript, "cts": command.JavaScript, "tsx": command.JavaScript,
}

// languages are those of a tool, by their names.
type languages map[string]language

func newLanguages(more []Language) languages {
	all := maps.Clone(builtin)
	for _, l := range more {
		scan, ok := scanned[l.Extension]
		if !ok {
			scan = command.AnyLanguage
		}
		all[l.Name] = language{args: []string{l.Program}, file: "program." + l.Extension, paths: l.Paths, scan: scan}
	}
	return all
}

func (l languages) names() []string { return slices.Sorted(maps.Keys(l)) }

// find gives the language of that name.
func (l languages) find(name string) (language, error) {
	found, ok := l[name]
	if !ok {
		names := l.names()
		return found, fmt.Errorf("the language %q is unknown: use %s or %s", name, strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
	}
	return found, nil
}

// spec runs a program.
func (l language) spec(code string) sandbox.Spec {
	s := sandbox.Spec{Args: slices.Clone(l.args)}
	for _, p := range l.paths {
		s.Binds = append(s.Binds, sandbox.Bind{Source: p, Target: p})
	}
	if l.file == "" {
		s.Args = append(s.Args, code)
	} else {
		s.Args = append(s.Args, l.file)
		s.Files = []sandbox.File{{Path: l.file, Content: []byte(code)}}
	}
	return s
}
