package roster

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/scanner/inject"
)

// FileName is the name of the file in an agent's folder.
const FileName = "AGENT.md"

// maxAgents bounds the operator's folder.
const maxAgents = 100

//go:embed builtin/*/AGENT.md
var builtin embed.FS

// Builtin are the agents that are part of the program, by name. They are not checked against tools.
func Builtin() []Definition {
	all := map[string]Definition{}
	for _, name := range builtinNames() {
		text, err := builtin.ReadFile(path.Join("builtin", name, FileName))
		if err != nil {
			panic(err) // it was listed
		}
		d, err := Parse("builtin:"+name, text)
		if err != nil {
			panic(err) // a test reads them
		}
		all[d.Name] = d
	}
	return sorted(all)
}

func builtinNames() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		panic(err) // it is embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Names are the names of all agents that there would be with the operator's folder, in no order, whether
// its files can be used or not.
func Names(dir string) ([]string, error) {
	names := builtinNames()
	own, err := folders(dir)
	return append(names, own...), err
}

// Read returns the agents of the program and of the operator's folder, by name. A folder that is not there
// has none. The error joins all mistakes.
func Read(dir string, k Known) ([]Definition, error) {
	if k.Scan == nil {
		k.Scan = inject.Scan
	}
	all := map[string]Definition{}
	for _, d := range Builtin() {
		all[d.Name] = d
	}
	names, err := folders(dir)
	if err != nil {
		return nil, err
	}
	var mistakes []error
	own := map[string]string{} // files of the operator by the name that they give
	for _, name := range names {
		file := filepath.Join(dir, name, FileName)
		text, err := load(file)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		d, err := Parse(file, text)
		mistakes = append(mistakes, err, suspicious(file, text, k.Scan))
		if d.Name == "" {
			continue
		}
		wrong := func(format string, args ...any) {
			mistakes = append(mistakes, &Mistake{File: file, Line: d.fields["name"], Field: "name", Message: fmt.Sprintf(format, args...)})
		}
		switch other, twice := own[d.Name]; {
		case twice:
			wrong("%s is the name of the agent in %s, too: give each its own", d.Name, other)
		case d.Name != name:
			wrong("it is %s, and the folder is %s: give both the same name", d.Name, name)
		}
		own[d.Name] = file
		d.Own = true
		all[d.Name] = d
	}
	list := sorted(all)
	if err := errors.Join(append(mistakes, check(list, k)...)...); err != nil {
		return nil, err
	}
	return list, nil
}

// folders are the names of the folders with agents. What looks like an agent and would not be read is an
// error: an agent that is silently the one of the program is worse than none.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the agents: %w", err)
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case e.Type()&fs.ModeSymlink != 0:
			return nil, &Mistake{File: filepath.Join(dir, name), Message: "it is a symbolic link; put the folder itself there"}
		case e.IsDir():
			names = append(names, name)
		case strings.EqualFold(filepath.Ext(name), ".md"):
			return nil, &Mistake{File: filepath.Join(dir, name), Message: fmt.Sprintf("an agent is a folder with a file %s: move it to %s",
				FileName, filepath.Join(dir, strings.TrimSuffix(name, filepath.Ext(name)), FileName))}
		}
	}
	if len(names) > maxAgents {
		return nil, &Mistake{File: dir, Message: fmt.Sprintf("there are %d agents, of %d at most", len(names), maxAgents)}
	}
	return names, nil
}

// Skills are the names of the skills that the operator's agents name, by agent, as far as their files can be
// read. What is wrong with a file is for [Read] to tell.
func Skills(dir string) (map[string][]string, error) {
	names, err := folders(dir)
	all := map[string][]string{}
	for _, name := range names {
		file := filepath.Join(dir, name, FileName)
		if text, err := load(file); err == nil {
			d, _ := Parse(file, text)
			all[name] = d.Skills
		}
	}
	return all, err
}
