package roster

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/internal/frontmatter"
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
	keys      = []string{"name", "description", "model", "tools", "skills", "sub-agents", "limits"}
	limitKeys = []string{"steps", "depth", "tokens", "time"}
)

// parser reads one file.
type parser struct{ frontmatter.Reader }

// Parse reads an AGENT.md. The error joins all mistakes; the definition then holds what could be read.
func Parse(file string, text []byte) (Definition, error) {
	p := &parser{frontmatter.Reader{File: file}}
	d := Definition{File: file, Hash: hashOf(text), fields: map[string]int{}}
	front, body, ok := p.Split(text, maxBytes)
	if ok {
		p.front(&d, front)
		d.System = strings.TrimSpace(body)
		if d.System == "" {
			p.Wrong(0, "body", "there is no instruction: write below the second --- what the agent is to do")
		}
	}
	return d, p.Err()
}

// front reads the front matter.
func (p *parser) front(d *Definition, text string) {
	fields := p.Fields(text, keys...)
	if fields == nil {
		return
	}
	for key, n := range fields {
		d.fields[key] = n.Line
	}
	d.Name, d.Description = p.name(fields["name"]), p.description(fields["description"])
	if n := fields["model"]; n != nil {
		d.Model = p.Text(n, "model")
	}
	d.Tools = p.Texts(fields["tools"], "tools", maxEntries)
	d.Skills = p.Texts(fields["skills"], "skills", maxEntries)
	for _, name := range p.Texts(fields["sub-agents"], "sub-agents", maxEntries) {
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
		p.Wrong(1, "name", "missing: give the agent the name of its folder")
		return ""
	}
	name := p.Text(n, "name")
	_, err := uuid.Parse(name)
	switch {
	case name == "":
		return ""
	case len(name) > maxName || !nameForm.MatchString(name):
		p.Wrong(n.Line, "name", "%q cannot be a name: use lower case letters, digits and single hyphens, at most %d, beginning with a letter", name, maxName)
	case err == nil:
		p.Wrong(n.Line, "name", "%q looks like an id of an assistant: use a word", name)
	case strings.HasPrefix(name, RemotePrefix):
		p.Wrong(n.Line, "name", "%s is how the names of remote agents begin: use another name", RemotePrefix)
	default:
		return name
	}
	return ""
}

func (p *parser) description(n *yaml.Node) string {
	if n == nil {
		p.Wrong(1, "description", "missing: say in a line what the agent is good for")
		return ""
	}
	return p.Line(n, "description", maxDescription)
}

// limits reads what bounds the agent. What is not there is the runtime's.
func (p *parser) limits(n *yaml.Node) agents.AgentLimits {
	fields := p.Mapping(n, "limits.", limitKeys...)
	number := func(key string, most int) int {
		v := fields[key]
		if v == nil {
			return 0
		}
		i, err := strconv.Atoi(p.Text(v, "limits."+key))
		if err != nil || i < 1 || i > most {
			p.Wrong(v.Line, "limits."+key, "%q is out of range: use a whole number from 1 to %d", v.Value, most)
			return 0
		}
		return i
	}
	l := agents.AgentLimits{Steps: number("steps", maxSteps), Depth: number("depth", maxDepth), Tokens: int64(number("tokens", maxTokens))}
	if v := fields["time"]; v != nil {
		t, err := time.ParseDuration(p.Text(v, "limits.time"))
		if err != nil || t < time.Second || t > maxTime {
			p.Wrong(v.Line, "limits.time", "%q is not a time from 1s to 168h: write a number with its unit, such as 90s or 5m", v.Value)
			t = 0
		}
		l.Time = t
	}
	return l
}
