package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Language is a language that agents may write programs in, beside those of the service.
type Language struct {
	// Name is what agents call it.
	Name string
	// Program runs a file in the sandbox: its absolute path, or its name in the sandbox's PATH.
	Program string
	// Extension is that of the file, without a dot.
	Extension string
	// Paths are files and folders of the host that the program needs beside those of sandbox.system.
	Paths []string
}

// Languages returns the languages that are set.
func (s Settings) Languages() []Language { return languages.of(s) }

// ownLanguages are the languages that the service has in any case.
var ownLanguages = []string{"bash", "python3", "sql"}

var languages = register(&objects[Language]{
	key: "languages", block: "language", one: "a language",
	doc:  "languages that programs of agents may be written in, beside `bash`, `python3` and `sql`. See [sandbox.md](sandbox.md#more-languages)",
	name: func(l *Language) *string { return &l.Name },
	fields: []field[Language]{
		text("program", "", "runs a file in the sandbox: an absolute path, or the name of a program in `/usr/local/bin`, `/usr/bin` or `/bin`",
			func(l *Language) *string { return &l.Program }, checkProgram).
			required("write the program that runs a file, such as node or /opt/node/bin/node"),
		text("extension", "", "what the name of that file ends with, without the dot",
			func(l *Language) *string { return &l.Extension }, checkExtension).
			required("write what the name of a program's file ends with, such as js"),
		items("paths", "", "absolute paths of the host that the program needs beside those of `sandbox.system`; they are shown read-only",
			func(l *Language) *[]string { return &l.Paths }, checkPaths),
	},
	complete: func(l *Language) error {
		if slices.Contains(ownLanguages, l.Name) {
			return fmt.Errorf("name: %s is a language of the service: choose another name", l.Name)
		}
		return nil
	},
})

var (
	programName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	fileEnding  = regexp.MustCompile(`^[a-z0-9]{1,16}$`)
)

func checkProgram(v string) error {
	if strings.Contains(v, "/") && (!filepath.IsAbs(v) || filepath.Clean(v) != v || v == "/") || !strings.Contains(v, "/") && !programName.MatchString(v) {
		return fmt.Errorf("%q is no program: write an absolute path such as /opt/node/bin/node, or a name such as node, without arguments", v)
	}
	return nil
}

func checkExtension(v string) error {
	if !fileEnding.MatchString(v) {
		return errors.New("write up to 16 lowercase letters and digits without a dot, such as js")
	}
	return nil
}
