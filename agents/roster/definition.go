package roster

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/frontmatter"
	"github.com/svc-gateway/svc/scanner"
)

// Definition is what an AGENT.md says.
type Definition struct {
	agents.Agent
	Skills []string // names of skills
	Remote []string // agents of other services that it may hand tasks to, with the prefix
	File   string   // where it is from; of one that is part of the program, not a path
	Hash   string   // SHA-256 of the file, in hex
	Own    bool     // the operator's, not part of the program

	fields map[string]int // the line of each key
}

// Known is what a definition may name.
type Known struct {
	Tools  []string // that the runtime has
	Later  []string // beginnings of names of tools that it may get later
	Models []string // names of the models that are set up
	Skills []string
	Remote []string // agents of other services, with the prefix
	// Scan finds injections in a file. Default: by the rules of [inject.Scan].
	Scan func(text string) []scanner.Finding
}

// Mistake is one thing wrong with an AGENT.md.
type Mistake = frontmatter.Mistake

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Agents are the agents of definitions, for the runtime.
func Agents(all []Definition) []agents.Agent {
	list := make([]agents.Agent, len(all))
	for i, d := range all {
		list[i] = d.Agent
	}
	return list
}

// sorted brings definitions into the order of their names.
func sorted(all map[string]Definition) []Definition {
	var list []Definition
	for _, d := range all {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return list
}
