package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-gateway/svc/agents/arguments"
	"github.com/svc-gateway/svc/agents/schema"
	"github.com/svc-gateway/svc/scanner"
)

// The bounds of what a server offers. All of it may stand in every prompt of an agent.
const (
	maxTools       = 128
	maxDescription = 4 << 10
	maxSchema      = 32 << 10
	maxName        = 64 // what servers of models take
)

// Offer is a tool as a server describes it: all that a model is told of it.
type Offer struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments, in its RFC 8785 form
}

// Origin is where a server is: what may be something else behind the same name.
type Origin struct {
	Command []string `json:"command,omitempty"`
	Host    bool     `json:"host,omitempty"` // beside the sandbox
	URL     string   `json:"url,omitempty"`
}

func (o Origin) same(p Origin) bool {
	return slices.Equal(o.Command, p.Command) && o.Host == p.Host && o.URL == p.URL
}

// revision names an offer of this server, and of no other that has its name.
func (c *Config) revision(o Offer) string {
	doc, err := json.Marshal(c.origin())
	if err != nil {
		return "" // text and lists of it have a JSON form
	}
	sum := sha256.Sum256(append(doc, o.hash()...))
	return hex.EncodeToString(sum[:])
}

// hash tells an offer from any other.
func (o Offer) hash() string {
	doc, err := json.Marshal(o)
	if err != nil {
		return "" // a schema that is no JSON, which check refuses
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

// digest names a list of offers, in the order of their names.
func digest(offers []Offer) string {
	h := sha256.New()
	for _, o := range offers {
		fmt.Fprintln(h, o.hash())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// candidate is an offer, and why it cannot be used.
type candidate struct {
	Offer
	problem  string // empty: none
	findings []scanner.Finding
}

// FullName is what a tool of a server is called here.
func FullName(server, tool string) string { return Prefix(server) + tool }

// Prefix begins the names of a server's tools. No name of a server has an underscore in it, so that no two
// servers can have a tool with the same name.
func Prefix(server string) string { return "mcp_" + server + "_" }

var usableName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// examine looks at what a server says that its tools are, and brings it into the order of the names.
func examine(server string, tools []*sdk.Tool, scan func(string) []scanner.Finding) []candidate {
	var all []candidate
	seen := map[string]int{}
	for _, t := range tools {
		if t == nil {
			continue
		}
		c := inspect(server, t, scan)
		if i, twice := seen[c.Name]; twice {
			all[i].problem = "the server has two tools with this name"
			continue
		}
		seen[c.Name] = len(all)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// inspect looks at one tool.
func inspect(server string, t *sdk.Tool, scan func(string) []scanner.Finding) (c candidate) {
	c.Name, c.Description = t.Name, t.Description
	defer func() {
		if c.problem != "" { // what is refused is not kept as it came
			c.Name, c.Description, c.Schema = short(c.Name, maxName), short(c.Description, maxDescription), json.RawMessage("{}")
		}
	}()
	doc, err := json.Marshal(t.InputSchema)
	if err == nil {
		c.Schema, err = jcs.Transform(doc)
	}
	switch {
	case !usableName.MatchString(t.Name):
		c.problem = "its name has other characters than letters, digits, _ and -"
	case len(FullName(server, t.Name)) > maxName:
		c.problem = fmt.Sprintf("%s has more than %d characters: give the server a shorter name", FullName(server, t.Name), maxName)
	case len(t.Description) > maxDescription:
		c.problem = fmt.Sprintf("its description has more than %d bytes", maxDescription)
	case err != nil:
		c.problem = "its schema is not JSON that can be pinned"
	case len(c.Schema) > maxSchema:
		c.problem = fmt.Sprintf("its schema has more than %d bytes", maxSchema)
	}
	if c.problem != "" {
		return c
	}
	described, _ := t.InputSchema.(map[string]any)
	if described["type"] != "object" {
		c.problem = "its schema is not one of an object"
		return c
	}
	if _, err := schema.Compile("the parameters of "+t.Name, c.Schema); err != nil {
		c.problem = "its schema cannot be used: " + short(strings.Join(strings.Fields(err.Error()), " "), 200)
		return c
	}
	c.findings = slices.Concat(scan(t.Name+"\n"+t.Description), arguments.Scan(described, scan))
	for _, f := range c.findings {
		if f.Confidence == scanner.High {
			c.problem = fmt.Sprintf("what describes it reads like an injection (%s, rule %s): %q", f.Category, f.Rule, f.Excerpt)
			return c
		}
	}
	return c
}

// short is at most the first n bytes of a text, as valid UTF-8.
func short(text string, n int) string {
	if len(text) <= n {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
