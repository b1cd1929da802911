package skill

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/frontmatter"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner"
)

// FileName is the name of the file with a skill's instruction.
const FileName = "SKILL.md"

// Skill is one that can be used.
type Skill struct {
	Name        string
	Description string   // in the prompts of the agents that have it
	Agent       string   // that has it; empty: only agents whose AGENT.md names it
	Body        string   // the instruction
	Scripts     []string // files that can be run
	Tools       []Tool
	Files       []File // all, sorted by path
	Hash        string // SHA-256 of all files, in hex
}

// Tool is a script of a skill as agents call it.
type Tool struct {
	Name        string // with that of the skill before it, see [ToolName]
	Description string
	Parameters  json.RawMessage // JSON Schema of the arguments, an object
	Script      string          // the file that is run
	Action      policy.Action
	Timeout     time.Duration // 0: the setting's
	Targets     map[string]provenance.Kind
}

// Known is what a skill may name, and what its names must not clash with.
type Known struct {
	Tools  []string // of the runtime, those of skills excepted
	Agents []string
	// Scan finds injections in files. Default: by the rules of [inject.Scan].
	Scan func(text string) []scanner.Finding
}

// Mistake is one thing wrong with a skill.
type Mistake = frontmatter.Mistake

// between is what stands between the names of a skill and of its tool. Neither has it in it, so that no two
// skills have tools of one name, and no skill has one of the program's.
const between = "__"

// ToolName is what agents call a tool of a skill.
func ToolName(skill, tool string) string { return skill + between + tool }

// Label is the source of what a skill says.
func Label(name string) string { return "skill:" + name }

// File is one of the skill's files.
func (s *Skill) File(path string) (File, bool) {
	i, found := slices.BinarySearchFunc(s.Files, path, func(f File, path string) int { return strings.Compare(f.Path, path) })
	if !found {
		return File{}, false
	}
	return s.Files[i], true
}
