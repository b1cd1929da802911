package skill

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/frontmatter"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

// maxScript is how long a script may be: people approve it, and it is read before it is run.
const maxScript = 256 << 10

// checkFiles looks at all files: they are scanned, and scripts must be ones that can be run. A byte that is no
// text does not keep the rest of a file from being looked at.
func (p *parser) checkFiles(at string) error {
	var mistakes []error
	for _, f := range p.skill.Files {
		text := bytes.ToValidUTF8(f.Content, []byte("\uFFFD"))
		mistakes = append(mistakes, suspicious(path.Join(at, f.Path), text, p.known.Scan))
		if path.Ext(f.Path) != ".md" || slices.Contains(p.skill.Scripts, f.Path) {
			mistakes = append(mistakes, checkCode(path.Join(at, f.Path), text))
		}
	}
	for _, name := range p.skill.Scripts {
		if f, ok := p.skill.File(name); ok {
			mistakes = append(mistakes, checkScript(path.Join(at, name), f))
			continue
		}
		mistakes = append(mistakes, &Mistake{File: p.File, Line: p.lines[name], Field: "scripts", Message: fmt.Sprintf("there is no file %s in the skill: add it, or take it off the list", name)})
	}
	return errors.Join(mistakes...)
}

// suspicious refuses a file that reads like an injection: an instruction that somebody planted. What is found
// with low confidence is a literal phrase, which instructions may need.
func suspicious(file string, text []byte, scan func(string) []scanner.Finding) error {
	var mistakes []error
	for _, f := range scan(string(text)) {
		if f.Confidence == scanner.High {
			mistakes = append(mistakes, &Mistake{File: file, Line: lineAt(text, f.Start), Message: fmt.Sprintf(
				"this reads like an injection (%s, rule %s): %q; find out who wrote it, and word it otherwise if it is meant", f.Category, f.Rule, f.Excerpt)})
		}
	}
	return errors.Join(mistakes...)
}

func lineAt(text []byte, at int) int {
	return 1 + bytes.Count(text[:min(max(at, 0), len(text))], []byte("\n"))
}

// checkCode says why a file cannot be code of a skill. What code may not do when an agent has written it a script
// of a skill may not do either, nor a file that it loads: which those are nobody knows.
func checkCode(file string, text []byte) error {
	var mistakes []error
	for _, found := range command.ScanCode(string(text), command.AnyLanguage) {
		mistakes = append(mistakes, &Mistake{File: file, Line: lineAt(text, found.Start), Message: fmt.Sprintf(
			"a script may not write to servers or databases, nor may what it can load (rule %s): %s", found.Rule, found.Excerpt)})
	}
	return errors.Join(mistakes...)
}

// checkScript says why a file cannot be run in the sandbox.
func checkScript(file string, f File) error {
	var mistakes []error
	wrong := func(line int, format string, args ...any) {
		mistakes = append(mistakes, &Mistake{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
	}
	if !f.Exec {
		wrong(0, "it is not executable: chmod +x it")
	}
	if len(f.Content) > maxScript {
		wrong(0, "it is larger than %d KiB, and nobody reads that before approving it: shorten it", maxScript>>10)
		return errors.Join(mistakes...)
	}
	if i := frontmatter.InvalidUTF8(f.Content); i >= 0 {
		wrong(lineAt(f.Content, i), "this is not UTF-8: a script is a text that people can read")
		return errors.Join(mistakes...)
	}
	first, _, _ := strings.Cut(string(f.Content), "\n")
	switch interpreter := strings.TrimSpace(strings.TrimPrefix(first, "#!")); {
	case !strings.HasPrefix(first, "#!") || !strings.HasPrefix(interpreter, "/"):
		wrong(1, "it does not begin with the path of its interpreter: write a first line such as #!/usr/bin/env python3")
	case strings.HasSuffix(first, "\r"):
		wrong(1, "its lines end as on Windows, which no interpreter is found with: save it with Unix line ends")
	}
	return errors.Join(mistakes...)
}
