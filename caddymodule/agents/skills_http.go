package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// maxSkill bounds a request with the files of a skill, which are base64 in it.
const maxSkill = 4 << 20

// SkillRequest is a change of the skills: the body of POST /skills/{add,approve,remove} on the control socket.
type SkillRequest struct {
	Name    string       `json:"name,omitempty"`    // approve, remove
	Hash    string       `json:"sha256,omitempty"`  // approve: of what was looked at
	Files   []skill.File `json:"files,omitempty"`   // add
	Replace bool         `json:"replace,omitempty"` // add: also one that is there
}

// SkillChange is a kind of change, as the command is called.
type SkillChange string

// The changes.
const (
	AddSkill     SkillChange = "add"
	ApproveSkill SkillChange = "approve"
	RemoveSkill  SkillChange = "remove"
)

// Make makes a change in the name of a user. agents is the folder of the operator's agents.
func (r SkillRequest) Make(c SkillChange, s skill.Store, agents, by string) (skill.Entry, error) {
	switch c {
	case AddSkill:
		return s.Add(r.Files, r.Replace, by, time.Now())
	case ApproveSkill:
		return s.Approve(r.Name, r.Hash, by, time.Now())
	case RemoveSkill:
		named, err := roster.Skills(agents)
		if err != nil {
			return skill.Entry{}, err
		}
		for _, agent := range slices.Sorted(maps.Keys(named)) {
			if slices.Contains(named[agent], r.Name) {
				return skill.Entry{}, fmt.Errorf("%s: the agent %s would be refused without it: take it off skills in %s first", r.Name, agent, filepath.Join(agents, agent, roster.FileName))
			}
		}
		return s.Remove(r.Name)
	}
	return skill.Entry{}, fmt.Errorf("there is no change %q of skills", c)
}

// Event is the record of a change, without the content of files.
func (r SkillRequest) Event(c SkillChange) audit.Event {
	files := map[string]int{}
	for _, f := range r.Files[:min(len(r.Files), 50)] {
		files[f.Path] = len(f.Content)
	}
	if len(r.Files) > 0 {
		r.Hash = skill.Hash(r.Files)
	}
	input := text(map[string]any{"name": r.Name, "sha256": r.Hash, "replace": r.Replace, "bytes_of_files": files})
	return audit.Event{Type: audit.Admin, Action: "skill." + string(c), Input: input}
}

// handleSkills answers on the control socket.
func handleSkills(a *app.App, s *skills, log *zap.Logger) {
	a.HandleControl("GET /skills", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all, err := s.list()
		if err != nil {
			// The client is an admin on this machine, who may know what the files say.
			problem.Write(w, r, problem.Problem{Status: http.StatusUnprocessableEntity, Code: "skills_unreadable", Detail: err.Error()})
			return
		}
		answer(w, all)
	}))
	for _, c := range []SkillChange{AddSkill, ApproveSkill, RemoveSkill} {
		a.HandleControl("POST /skills/"+string(c), changing{c, s, a.Home().Agents(), a.Audit(), log})
	}
}

// changing is POST /skills/{add,approve,remove}. A change is recorded before and after.
type changing struct {
	change SkillChange
	skills *skills
	agents string
	log    *audit.Log
	logger *zap.Logger
}

func (c changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mayInstall := func(role policy.Role) bool { return role.May(policy.Install) }
	by, ok := asker(w, r, mayInstall, "changing skills needs the action install, which admins have")
	if !ok {
		return
	}
	var in SkillRequest
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSkill))
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "want a JSON object with files, or with the name of a skill, of at most 4 MiB"})
		return
	}
	var done skill.View
	o := change(r.Context(), c.log, by, in.Event(c.change), func() (any, error) {
		var err error
		done, err = c.skills.change(func(s skill.Store) (skill.Entry, error) { return in.Make(c.change, s, c.agents, by.User) })
		return done, err
	})
	if o.err != nil {
		c.logger.Error("changing a skill failed", zap.String("change", string(c.change)), zap.String("by", by.User), zap.Error(o.err))
	} else {
		c.logger.Info("a skill was changed", zap.String("change", string(c.change)), zap.String("skill", done.Name), zap.String("sha256", done.Hash), zap.String("by", by.User))
	}
	switch {
	case !o.began:
		unrecorded(w, r, "the change could not be recorded and was not made")
	case o.why != nil:
		problem.Write(w, r, refusalOf(o.why))
	default:
		answer(w, done)
	}
}

// refusalOf says why a skill was not changed. The client is an admin on this machine, who may know what the
// files say.
func refusalOf(err error) problem.Problem {
	p := problem.Problem{Status: http.StatusUnprocessableEntity, Code: "skill_refused", Detail: err.Error()}
	switch {
	case errors.Is(err, skill.ErrUnknown):
		p.Status, p.Code = http.StatusNotFound, "skill_not_found"
	case errors.Is(err, skill.ErrExists):
		p.Status, p.Code = http.StatusConflict, "skill_exists"
	case errors.Is(err, skill.ErrNotAsked):
		p.Status, p.Code = http.StatusConflict, "skill_changed"
	}
	return p
}
