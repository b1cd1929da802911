package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/policy"
)

// ReadSkill returns the tool read_skill {name, file, offset, limit}: the instruction of a skill, or lines of
// another of its files. An agent reads the skills that it has, and no others.
func ReadSkill(bound skill.Bound) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: skill.ReadTool,
		Description: "Read the instruction of one of your skills before you do what it is for. With file, read a file that the instruction refers to; " +
			"long files are read in parts: offset is the first line, limit the number of lines.",
		Parameters: []byte(`{"type":"object","properties":{"name":{"type":"string","description":"Name of the skill"},` +
			`"file":{"type":"string","description":"Path of a file in the skill, default its instruction"},` +
			`"offset":{"type":"integer","minimum":1,"description":"First line, default 1"},"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"Number of lines, default 2000"}},` +
			`"required":["name"],"additionalProperties":false}`),
		Action: policy.Use,
	}, readSkill{bound}.run)
}

// readSkill has the skills of all agents.
type readSkill struct{ bound skill.Bound }

func (b readSkill) run(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	err := known(args, "name", "file", "offset", "limit")
	name, err1 := textArg(args, "name")
	offset, err2 := numberArg(args, "offset", 1, 1<<30)
	limit, err3 := numberArg(args, "limit", readLines, readLines)
	if err := errors.Join(err, err1, err2, err3); err != nil {
		return agents.Result{}, err
	}
	s, err := find(b.bound[tc.Agent], name)
	if err != nil {
		return agents.Result{}, err
	}
	var r agents.Result
	if path, _ := args["file"].(string); path != "" && path != skill.FileName {
		r, err = readSkillFile(ctx, s, path, offset, limit)
	} else {
		text := s.Body + contents(s)
		r, err = showLines(ctx, name, strings.NewReader(text), int64(len(text)), offset, limit)
	}
	r.Sources = []string{skill.Label(s.Name)}
	return r, err
}

// find gives a skill of an agent's.
func find(of []skill.Skill, name string) (skill.Skill, error) {
	var names []string
	for _, s := range of {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return skill.Skill{}, fmt.Errorf("you have no skill %q%s; yours are %s", name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
}

func readSkillFile(ctx context.Context, s skill.Skill, path string, offset, limit int) (agents.Result, error) {
	f, ok := s.File(path)
	if !ok {
		paths := others(s)
		return agents.Result{}, fmt.Errorf("the skill %s has no file %q%s; it has %s", s.Name, path, suggest.DidYouMean(path, paths), strings.Join(paths, ", "))
	}
	if !utf8.Valid(f.Content) {
		return agents.Result{}, fmt.Errorf("%s is not a text: only the scripts of the skill can use it", path)
	}
	return showLines(ctx, path, bytes.NewReader(f.Content), int64(len(f.Content)), offset, limit)
}

// contents says what a skill has beside its instruction.
func contents(s skill.Skill) string {
	text := "\n"
	if paths := others(s); len(paths) > 0 {
		text = noted(text, "files of this skill: %s", strings.Join(paths, ", "))
	}
	var names []string
	for _, t := range s.Tools {
		names = append(names, t.Name)
	}
	if len(names) > 0 {
		text = noted(text, "tools of this skill: %s", strings.Join(names, ", "))
	}
	return text
}

// others are the files of a skill beside its instruction.
func others(s skill.Skill) []string {
	var paths []string
	for _, f := range s.Files {
		paths = append(paths, f.Path)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return p == skill.FileName })
}
