package roster

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/internal/suggest"
)

// What an AGENT.md may hold, beside its size.
const (
	maxName        = 64
	maxDescription = 500 // bytes; other agents have it in their prompts
	maxEntries     = 64  // of a list
	maxSteps       = 1000
	maxDepth       = 8
	maxTokens      = 1_000_000_000
	maxTime        = 7 * 24 * time.Hour
)

// RemotePrefix begins the names of agents of other services, which no file can define.
const RemotePrefix = remote.Prefix

var (
	nameForm  = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	yamlLine  = regexp.MustCompile(`line (\d+)`)
	keys      = []string{"name", "description", "model", "tools", "skills", "sub-agents", "limits"}
	limitKeys = []string{"steps", "depth", "tokens", "time"}
)

// parser reads one file.
type parser struct {
	file     string
	mistakes []error
}

func (p *parser) wrong(line int, field, format string, args ...any) {
	p.mistakes = append(p.mistakes, &Mistake{p.file, line, field, fmt.Sprintf(format, args...)})
}

// Parse reads an AGENT.md. The error joins all mistakes; the definition then holds what could be read.
func Parse(file string, text []byte) (Definition, error) {
	p := &parser{file: file}
	d := Definition{File: file, Hash: hashOf(text), fields: map[string]int{}}
	front, body, ok := p.split(text)
	if ok {
		p.front(&d, front)
		d.System = strings.TrimSpace(body)
		if d.System == "" {
			p.wrong(0, "body", "there is no instruction: write below the second --- what the agent is to do")
		}
	}
	return d, errors.Join(p.mistakes...)
}

// split takes the front matter and the body apart. The front matter keeps the first line, empty, so that
// lines count from the file's first.
func (p *parser) split(text []byte) (front, body string, ok bool) {
	if len(text) > maxBytes {
		p.wrong(0, "", "the file is larger than %d KiB: the agent is told all of it at every turn, shorten it", maxBytes>>10)
		return "", "", false
	}
	if i := invalidUTF8(text); i >= 0 {
		p.wrong(1+bytes.Count(text[:i], []byte("\n")), "", "this is not UTF-8: save the file as UTF-8")
		return "", "", false
	}
	all := strings.ReplaceAll(strings.TrimPrefix(string(text), "\uFEFF"), "\r\n", "\n")
	if i := strings.IndexFunc(all, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		p.wrong(1+strings.Count(all[:i], "\n"), "", "there is a control character: remove it")
		return "", "", false
	}
	lines := strings.SplitAfter(all, "\n")
	if strings.TrimRight(lines[0], " \t\n") != "---" {
		p.wrong(1, "", "the file must begin with --- and front matter: name, description and more, and --- below it")
		return "", "", false
	}
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t\n") == "---" {
			return "\n" + strings.Join(lines[1:i+1], ""), strings.Join(lines[i+2:], ""), true
		}
	}
	p.wrong(len(lines), "", "the front matter does not end: put a line --- between it and the instruction")
	return "", "", false
}

// invalidUTF8 is the place of the first byte that is not UTF-8; -1: none.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// front reads the front matter.
func (p *parser) front(d *Definition, text string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		line := 1
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1]) // digits
		}
		p.wrong(line, "", "the front matter is not YAML: %s; put texts with a colon or # into quotes", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if len(doc.Content) == 0 {
		p.wrong(1, "", "the front matter is empty: give the agent a name and a description")
		return
	}
	fields := p.mapping(doc.Content[0], "", keys)
	if fields == nil {
		return
	}
	for key, n := range fields {
		d.fields[key] = n.Line
	}
	d.Name, d.Description = p.name(fields["name"]), p.description(fields["description"])
	if n := fields["model"]; n != nil {
		d.Model = p.text(n, "model")
	}
	d.Tools = p.names(fields["tools"], "tools")
	d.Skills = p.names(fields["skills"], "skills")
	for _, name := range p.names(fields["sub-agents"], "sub-agents") {
		if strings.HasPrefix(name, RemotePrefix) {
			d.Remote = append(d.Remote, name)
		} else {
			d.Delegates = append(d.Delegates, name)
		}
	}
	if n := fields["limits"]; n != nil {
		d.Limits = p.limits(n)
	}
}

func (p *parser) name(n *yaml.Node) string {
	if n == nil {
		p.wrong(1, "name", "missing: give the agent the name of its folder")
		return ""
	}
	name := p.text(n, "name")
	_, err := uuid.Parse(name)
	switch {
	case name == "":
		return ""
	case len(name) > maxName || !nameForm.MatchString(name):
		p.wrong(n.Line, "name", "%q cannot be a name: use lower case letters, digits and single hyphens, at most %d, beginning with a letter", name, maxName)
	case err == nil:
		p.wrong(n.Line, "name", "%q looks like an id of an assistant: use a word", name)
	case strings.HasPrefix(name, RemotePrefix):
		p.wrong(n.Line, "name", "%s is how the names of remote agents begin: use another name", RemotePrefix)
	default:
		return name
	}
	return ""
}

func (p *parser) description(n *yaml.Node) string {
	if n == nil {
		p.wrong(1, "description", "missing: say in a line what the agent is good for")
		return ""
	}
	text := strings.TrimSpace(p.text(n, "description"))
	switch {
	case len(text) > maxDescription:
		p.wrong(n.Line, "description", "it has %d bytes, of %d at most: shorten it, the body has room", len(text), maxDescription)
	case strings.Contains(text, "\n"):
		p.wrong(n.Line, "description", "it has several lines: write one, or begin it with >-")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		p.wrong(n.Line, "description", "there is a control character: remove it")
	}
	return text
}

// limits reads what bounds the agent. What is not there is the runtime's.
func (p *parser) limits(n *yaml.Node) agents.AgentLimits {
	fields := p.mapping(n, "limits.", limitKeys)
	number := func(key string, most int) int {
		v := fields[key]
		if v == nil {
			return 0
		}
		i, err := strconv.Atoi(p.text(v, "limits."+key))
		if err != nil || i < 1 || i > most {
			p.wrong(v.Line, "limits."+key, "%q is out of range: use a whole number from 1 to %d", v.Value, most)
			return 0
		}
		return i
	}
	l := agents.AgentLimits{Steps: number("steps", maxSteps), Depth: number("depth", maxDepth), Tokens: int64(number("tokens", maxTokens))}
	if v := fields["time"]; v != nil {
		t, err := time.ParseDuration(p.text(v, "limits.time"))
		if err != nil || t < time.Second || t > maxTime {
			p.wrong(v.Line, "limits.time", "%q is not a time from 1s to 168h: write a number with its unit, such as 90s or 5m", v.Value)
			t = 0
		}
		l.Time = t
	}
	return l
}

// mapping returns the values of a mapping by key. Keys that are unknown or there twice are mistakes.
func (p *parser) mapping(n *yaml.Node, prefix string, known []string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.wrong(n.Line, strings.TrimSuffix(prefix, "."), "want lines with a key and a value; the keys are %s", strings.Join(known, ", "))
		return nil
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch first := fields[key.Value]; {
		case !slices.Contains(known, key.Value):
			p.wrong(key.Line, prefix+key.Value, "unknown key%s; the keys are %s", suggest.DidYouMean(key.Value, known), strings.Join(known, ", "))
		case first != nil:
			p.wrong(key.Line, prefix+key.Value, "it is there already, in line %d: remove one", first.Line)
		default:
			fields[key.Value] = n.Content[i+1]
		}
	}
	return fields
}

// text returns the value of a scalar.
func (p *parser) text(n *yaml.Node, field string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		p.wrong(n.Line, field, "want one value here, without an anchor or alias; remove the key if there is none")
		return ""
	}
	return n.Value
}

// names reads a list of names.
func (p *parser) names(n *yaml.Node, field string) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.SequenceNode:
		p.wrong(n.Line, field, "want a list of names, such as [read_file]")
		return nil
	case len(n.Content) > maxEntries:
		p.wrong(n.Line, field, "it has %d entries, of %d at most", len(n.Content), maxEntries)
		return nil
	}
	var all []string
	for _, e := range n.Content {
		name := p.text(e, field)
		switch {
		case name == "":
		case slices.Contains(all, name):
			p.wrong(e.Line, field, "%s is there twice: remove one", name)
		default:
			all = append(all, name)
		}
	}
	return all
}
