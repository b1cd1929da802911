package policy

import (
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

// env is what a rule's expression sees, by the names in the tags. All of it is typed, so that
// a misspelt name is an error when the rule is loaded; the values of arguments alone are only
// known at the call.
type env struct {
	Principal  principalEnv   `expr:"principal"`
	Agent      string         `expr:"agent"`
	Skill      string         `expr:"skill"`
	Tool       string         `expr:"tool"`
	Action     string         `expr:"action"`
	Arguments  map[string]any `expr:"arguments"`
	Command    commandEnv     `expr:"command"`
	Categories []string       `expr:"categories"` // of the call and its command
	Labels     []string       `expr:"labels"`
	Findings   []findingEnv   `expr:"findings"`
}

type principalEnv struct {
	User       string   `expr:"user"`
	Role       string   `expr:"role"`
	Groups     []string `expr:"groups"`
	Source     string   `expr:"source"`
	OnBehalfOf string   `expr:"on_behalf_of"`
	Address    string   `expr:"address"`
}

type commandEnv struct {
	Present bool      `expr:"present"` // false when the call runs no command
	Class   string    `expr:"class"`
	Parts   []partEnv `expr:"parts"`
}

type partEnv struct {
	Name    string   `expr:"name"`
	Args    []string `expr:"args"`
	Dynamic bool     `expr:"dynamic"`
}

type findingEnv struct {
	Category   string `expr:"category"`
	Rule       string `expr:"rule"`
	Confidence string `expr:"confidence"`
}

func newEnv(in *Input, q *question) *env {
	return &env{
		Principal:  newPrincipalEnv(&in.Principal),
		Agent:      in.Agent,
		Skill:      q.Skill,
		Tool:       in.Tool,
		Action:     string(q.Action),
		Arguments:  in.Arguments,
		Command:    newCommandEnv(in.Command),
		Categories: q.categories,
		Labels:     in.Labels,
		Findings:   newFindingEnvs(in.Findings),
	}
}

func newPrincipalEnv(p *Principal) principalEnv {
	return principalEnv{
		User: p.User, Role: string(p.Role), Groups: p.Groups, Source: p.Source,
		OnBehalfOf: p.OnBehalfOf, Address: p.Address,
	}
}

func newCommandEnv(c *command.Command) commandEnv {
	if c == nil {
		return commandEnv{}
	}
	parts := make([]partEnv, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = partEnv{p.Name, p.Args, p.Dynamic}
	}
	return commandEnv{true, string(c.Class), parts}
}

func newFindingEnvs(findings []scanner.Finding) []findingEnv {
	if len(findings) == 0 {
		return nil
	}
	list := make([]findingEnv, len(findings))
	for i, f := range findings {
		list[i] = findingEnv{string(f.Category), f.Rule, string(f.Confidence)}
	}
	return list
}
