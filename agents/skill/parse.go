package skill

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/internal/frontmatter"
	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/inject"
)

// What a SKILL.md may hold.
const (
	maxText        = 64 << 10
	maxName        = 40
	maxToolName    = 64 // with that of the skill; what models take
	maxDescription = 500
	maxAbout       = 1000 // bytes of a tool's description
	maxTools       = 16
	maxScripts     = 32
	maxTime        = time.Hour
)

var (
	nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	toolForm = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

	keys     = []string{"name", "description", "agent", "action", "tools", "scripts"}
	toolKeys = []string{"name", "description", "script", "action", "timeout", "parameters", "targets"}
	actions  = []policy.Action{policy.Use, policy.Mutate, policy.AdminAction}
)

// parser reads the SKILL.md of one skill.
type parser struct {
	frontmatter.Reader

	skill Skill
	known Known
	lines map[string]int // of scripts in the front matter
}

// Parse reads a skill of its files. at is the folder or archive that messages name. The error joins all
// mistakes; the skill then holds what could be read.
func Parse(at string, files []File, k Known) (Skill, error) {
	if k.Scan == nil {
		k.Scan = inject.Scan
	}
	p := &parser{Reader: frontmatter.Reader{File: path.Join(at, FileName)}, known: k, skill: Skill{Files: sorted(files)}}
	p.skill.Hash = Hash(p.skill.Files)
	text, ok := p.skill.File(FileName)
	if !ok {
		p.Wrong(0, "", "there is no such file%s", p.nearly())
		return p.skill, p.Err()
	}
	if front, body, ok := p.Split(text.Content, maxText); ok {
		p.front(front)
		if p.skill.Body = strings.TrimSpace(body); p.skill.Body == "" {
			p.Wrong(0, "body", "there is no instruction: write below the second --- how to do what the skill is for")
		}
	}
	return p.skill, errors.Join(p.Err(), p.checkFiles(at))
}

// nearly says what was probably meant to be the SKILL.md.
func (p *parser) nearly() string {
	for _, f := range p.skill.Files {
		if strings.EqualFold(path.Base(f.Path), FileName) {
			return fmt.Sprintf("; %s is there: move it, or rename it", f.Path)
		}
	}
	return ": a skill begins with it"
}

func (p *parser) front(text string) {
	fields := p.Fields(text, keys...)
	if fields == nil {
		return
	}
	p.name(fields["name"])
	if n := fields["description"]; n == nil {
		p.Wrong(1, "description", "missing: say in a line what the skill is for, and when to use it")
	} else {
		p.skill.Description = p.Line(n, "description", maxDescription)
	}
	if n := fields["agent"]; n != nil {
		p.skill.Agent = p.Text(n, "agent")
		if p.skill.Agent != "" && !slices.Contains(p.known.Agents, p.skill.Agent) {
			p.Wrong(n.Line, "agent", "there is no agent %q%s; the agents are %s", p.skill.Agent, suggest.DidYouMean(p.skill.Agent, p.known.Agents), strings.Join(p.known.Agents, ", "))
		}
	}
	action := policy.Mutate
	if n := fields["action"]; n != nil {
		action = p.action(n, "action")
	}
	p.scripts(fields["scripts"])
	for _, n := range p.List(fields["tools"], "tools", maxTools) {
		p.tool(n, action)
	}
	for _, s := range p.skill.Scripts {
		if !slices.ContainsFunc(p.skill.Tools, func(t Tool) bool { return t.Script == s }) {
			p.Wrong(p.lines[s], "scripts", "no tool runs %s: give it a tool, or take it off the list", s)
		}
	}
}

func (p *parser) name(n *yaml.Node) {
	if n == nil {
		p.Wrong(1, "name", "missing: give the skill the name of its folder")
		return
	}
	name := p.Text(n, "name")
	switch {
	case name == "":
	case len(name) > maxName || !nameForm.MatchString(name):
		p.Wrong(n.Line, "name", "%q cannot be a name: use lower case letters, digits and single hyphens, at most %d, beginning with a letter", name, maxName)
	default:
		p.skill.Name = name
	}
}

func (p *parser) action(n *yaml.Node, field string) policy.Action {
	a := policy.Action(p.Text(n, field))
	if a != "" && !slices.Contains(actions, a) {
		p.Wrong(n.Line, field, "%q is no action of a tool: use use (it only looks), mutate (it changes something) or admin (only admins may)", a)
	}
	return a
}

func (p *parser) scripts(n *yaml.Node) {
	p.lines = map[string]int{}
	p.skill.Scripts = p.Texts(n, "scripts", maxScripts)
	if n != nil {
		for _, e := range n.Content {
			p.lines[e.Value] = e.Line
		}
	}
}

// tool reads one entry of tools.
func (p *parser) tool(n *yaml.Node, action policy.Action) {
	fields := p.Mapping(n, "tools.", toolKeys...)
	if fields == nil {
		return
	}
	t := Tool{Action: action}
	name := p.needed(n, fields, "name", "write one, such as summary")
	switch {
	case name == "":
	case !toolForm.MatchString(name):
		p.Wrong(n.Line, "tools.name", "%q cannot be a name: use lower case letters, digits and single underscores, beginning with a letter", name)
	case len(ToolName(p.skill.Name, name)) > maxToolName:
		p.Wrong(n.Line, "tools.name", "with the skill's name it is called %s, which has more than %d characters: shorten one of them", ToolName(p.skill.Name, name), maxToolName)
	}
	t.Name = ToolName(p.skill.Name, name)
	switch {
	case slices.ContainsFunc(p.skill.Tools, func(o Tool) bool { return o.Name == t.Name }):
		p.Wrong(n.Line, "tools.name", "%s is there twice: give each tool its own name", name)
	case slices.Contains(p.known.Tools, t.Name):
		p.Wrong(n.Line, "tools.name", "%s is the name of another tool of the service: rename the tool or the skill", t.Name)
	}
	if d := fields["description"]; d == nil {
		p.Wrong(n.Line, "tools.description", "missing: tell the model what the tool does and returns")
	} else {
		t.Description = p.Line(d, "tools.description", maxAbout)
	}
	if t.Script = p.needed(n, fields, "script", "name the file that is run"); t.Script != "" && !slices.Contains(p.skill.Scripts, t.Script) {
		p.Wrong(fields["script"].Line, "tools.script", "%s is not in scripts%s: add it there", t.Script, suggest.DidYouMean(t.Script, p.skill.Scripts))
	}
	if a := fields["action"]; a != nil {
		t.Action = p.action(a, "tools.action")
	}
	if d := fields["timeout"]; d != nil {
		var err error
		if t.Timeout, err = time.ParseDuration(p.Text(d, "tools.timeout")); err != nil || t.Timeout < time.Millisecond || t.Timeout > maxTime {
			p.Wrong(d.Line, "tools.timeout", "%q is not a time from 1ms to 1h: write a number with its unit, such as 20s", d.Value)
		}
	}
	arguments := p.parameters(&t, fields["parameters"])
	p.targets(&t, fields["targets"], arguments)
	p.skill.Tools = append(p.skill.Tools, t)
}

// needed is the value of a key that a tool must have.
func (p *parser) needed(n *yaml.Node, fields map[string]*yaml.Node, key, fix string) string {
	if fields[key] == nil {
		p.Wrong(n.Line, "tools."+key, "missing: %s", fix)
		return ""
	}
	return p.Text(fields[key], "tools."+key)
}

// targets reads which arguments name what a call reaches for.
func (p *parser) targets(t *Tool, n *yaml.Node, arguments []string) {
	if n == nil {
		return
	}
	t.Targets = map[string]provenance.Kind{}
	for name, v := range p.Mapping(n, "tools.targets.", arguments...) {
		kind := provenance.Kind(p.Text(v, "tools.targets."+name))
		if kind != "" && !kind.Known() {
			p.Wrong(v.Line, "tools.targets."+name, "there is no kind %q: use one of %v", kind, provenance.Kinds())
		}
		t.Targets[name] = kind
	}
}
