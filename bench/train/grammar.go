package main

import (
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
)

//go:embed templates/*.txt
var templates embed.FS

// harmless is the section of lines that are no attacks.
const harmless = "harmless"

// grammar is the templates of a language: lines in sections, with slots.
type grammar struct {
	language string
	slots    map[string][]string
	sections map[string][]string
}

// sections are those that a file may have.
var sections = []string{string(scanner.RoleHijacking), string(scanner.DataExfiltration), string(scanner.PrivilegeEscalation), harmless}

// grammars reads all files of templates, by the names of their languages.
func grammars() ([]*grammar, error) {
	files, err := fs.Glob(templates, "templates/*.txt")
	if err != nil {
		return nil, fmt.Errorf("listing the templates: %w", err)
	}
	var list []*grammar
	for _, file := range files {
		text, err := templates.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading templates: %w", err)
		}
		g, err := parseGrammar(strings.TrimSuffix(path.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, g)
	}
	return list, nil
}

// parseGrammar reads "@slot = choice | choice", "[section]" and lines of it; # begins a comment in the
// first lines.
func parseGrammar(language, text string) (*grammar, error) {
	g := &grammar{language: language, slots: make(map[string][]string), sections: make(map[string][]string)}
	section := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# ") && section == "":
		case strings.HasPrefix(line, "@"):
			name, choices, ok := strings.Cut(line[1:], " = ")
			if !ok || g.slots[name] != nil {
				return nil, fmt.Errorf("line %d: %q is no slot of its own: want @name = choice | choice", i+1, line)
			}
			g.slots[name] = strings.Split(choices, " | ")
		case strings.HasPrefix(line, "[") && slices.Contains(sections, strings.Trim(line, "[]")):
			section = strings.Trim(line, "[]")
		case section == "":
			return nil, fmt.Errorf("line %d: it belongs to no section: want one of %s before it", i+1, strings.Join(sections, ", "))
		default:
			g.sections[section] = append(g.sections[section], line)
		}
	}
	for _, name := range sections {
		if len(g.sections[name]) == 0 {
			return nil, fmt.Errorf("the section %s has no lines", name)
		}
	}
	return g, nil
}

// line draws a line of a section and fills its slots.
func (g *grammar) line(section string, r *rand.Rand) string {
	lines := g.sections[section]
	return strings.TrimSpace(strings.ReplaceAll(g.fill(lines[r.IntN(len(lines))], r, 0), `\n`, "\n"))
}

// fill puts a choice in the place of each slot; of {name?} perhaps nothing. What is no slot stays.
func (g *grammar) fill(line string, r *rand.Rand, depth int) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "{")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(line)
			return b.String()
		}
		b.WriteString(before)
		bare, perhaps := strings.CutSuffix(name, "?")
		switch choices := g.slots[bare]; {
		case choices == nil || depth > 4:
			b.WriteString("{")
			line = rest
			continue
		case perhaps && r.IntN(2) == 0:
			after = strings.TrimPrefix(after, " ")
		default:
			b.WriteString(g.fill(choices[r.IntN(len(choices))], r, depth+1))
		}
		line = after
	}
}
