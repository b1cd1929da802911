package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/agents/tools"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// loadSkills is what the record of skills that were read has as its action.
const loadSkills = "skills.load"

// SkillStore is the store of a data folder's skills. own are the tools that its skills must not clash with.
func SkillStore(home settings.Home, own []agents.Tool) (skill.Store, error) {
	known := skill.Known{Tools: []string{agents.Delegate, skill.ReadTool}}
	for _, t := range own {
		known.Tools = append(known.Tools, t.Name)
	}
	names, err := roster.Names(home.Agents())
	slices.Sort(names)
	known.Agents = slices.Compact(names)
	return skill.Store{Dir: home.Skills(), Pins: home.SkillPins(), Known: known}, err
}

// skills are those of a data folder, as the runtimes of all its handlers have them. What was read stays in
// memory: a folder that changes afterwards changes nothing.
type skills struct {
	log *zap.Logger
	set func(health.Part)
	end func()

	mu     sync.Mutex
	inUse  skill.Set
	takers []taker // the newest last
}

// taker is a runtime that works with the skills.
type taker struct {
	of    *Handler
	store skill.Store
	named map[string][]string // names of skills by the agents that name them
	take  func(skill.Set) error
}

func openSkills(a *app.App, log *zap.Logger) *skills {
	s := &skills{log: log}
	s.set, s.end = a.Part("skills", "files")
	return s
}

// join has a handler's runtime work with the skills, now and when they change.
func (s *skills) join(t taker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	set, err := t.store.Read()
	if err != nil {
		return err
	}
	if err := t.take(set); err != nil {
		return err
	}
	s.takers = append(s.takers, t)
	s.use(set)
	return nil
}

// leave ends that.
func (s *skills) leave(h *Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takers = slices.DeleteFunc(s.takers, func(t taker) bool { return t.of == h })
}

// use tells of the skills that are used from now on, and of those that are not.
func (s *skills) use(set skill.Set) {
	s.inUse = set
	reason := ""
	for _, e := range set.All {
		switch e.State {
		case skill.Active:
			continue
		case skill.Refused:
			s.log.Error("a skill is not used: it has mistakes", zap.String("skill", e.Name), zap.Error(e.Err))
		case skill.Changed, skill.Missing:
			s.log.Error("a skill is not used: it is not what was approved", zap.String("skill", e.Name), zap.Any("changes", e.Changes),
				zap.String("approved", e.Pin.Hash), zap.String("found", e.Skill.Hash))
		case skill.New:
			s.log.Warn("a skill is not used: nobody has approved it", zap.String("skill", e.Name), zap.String("found", e.Skill.Hash))
		}
		if reason == "" || e.State != skill.New {
			reason = "skill_" + string(e.State)
		}
	}
	s.set(health.NewPart("files", time.Now(), reason))
}

// current is the taker of the newest configuration, which changes are checked against.
func (s *skills) current() (taker, error) {
	if len(s.takers) == 0 {
		return taker{}, errors.New("the runtime is not ready: try again")
	}
	return s.takers[len(s.takers)-1], nil
}

// change makes a change of the store's, and has all runtimes work with what is there then.
func (s *skills) change(f func(skill.Store) (skill.Entry, error)) (skill.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.current()
	if err != nil {
		return skill.View{}, err
	}
	e, err := f(t.store)
	if err != nil {
		return e.View(t.named), err
	}
	set, err := t.store.Read()
	if err != nil {
		return e.View(t.named), err
	}
	for _, t := range s.takers {
		if err := t.take(set); err != nil {
			return e.View(t.named), fmt.Errorf("it was changed, and the running service keeps what it had: %w", err)
		}
	}
	s.use(set)
	return s.view(e, t.named), nil
}

// list are the skills as they are in the folder now.
func (s *skills) list() ([]skill.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.current()
	if err != nil {
		return nil, err
	}
	set, err := t.store.Read()
	if err != nil {
		return nil, err
	}
	all := []skill.View{}
	for _, e := range set.All {
		all = append(all, s.view(e, t.named))
	}
	return all, nil
}

func (s *skills) view(e skill.Entry, named map[string][]string) skill.View {
	v := e.View(named)
	if used, ok := s.inUse.Get(e.Name); ok && used.State == skill.Active {
		v.InUse = used.Skill.Hash
	}
	return v
}

// Named are the skills that agents name, by agent.
func Named(all []roster.Definition) map[string][]string {
	named := map[string][]string{}
	for _, d := range all {
		named[d.Name] = d.Skills
	}
	return named
}

// lendSkills is a function that gives the agents of a runtime the skills of a set.
func lendSkills(gear *equipment, all []roster.Definition, c tools.ScriptConfig) func(skill.Set) error {
	named := Named(all)
	return func(set skill.Set) error {
		active := set.Active()
		bound := skill.Bind(active, named)
		return gear.lend(lentBySkills, func(all []agents.Agent, own []agents.Tool) ([]agents.Agent, []agents.Tool) {
			equipped := slices.Clone(all)
			for i := range equipped {
				equipped[i] = bound.Equip(equipped[i])
			}
			return equipped, slices.Concat(own, tools.SkillTools(c, active, bound))
		})
	}
}

// scripts is what tools of skills work with.
func scripts(a *app.App, box tools.Sandbox) tools.ScriptConfig {
	r := a.Settings().Runtime
	return tools.ScriptConfig{Box: box, Root: r.ProjectRoot, Denied: []string{a.Home().Dir()}, Timeout: r.Timeout}
}

// record puts on record which skills count from now on, and which do not and why.
func (s *skills) record(ctx context.Context, log *audit.Log, secrets *redact.Secrets) error {
	type loaded struct {
		Name    string         `json:"name"`
		State   skill.State    `json:"state"`
		Hash    string         `json:"sha256,omitempty"`
		Changes []skill.Change `json:"changes,omitempty"`
	}
	s.mu.Lock()
	set := s.inUse
	s.mu.Unlock()
	if len(set.All) == 0 {
		return nil
	}
	e := audit.Event{Type: audit.Admin, Action: loadSkills, Status: "success"}
	var all []loaded
	var unusable []string
	for _, s := range set.All {
		all = append(all, loaded{s.Name, s.State, s.Skill.Hash, s.Changes[:min(len(s.Changes), 20)]})
		if s.State != skill.Active {
			reason := s.Name + " is " + string(s.State)
			if s.Err != nil {
				reason += ": " + s.Err.Error()
			}
			unusable = append(unusable, reason)
		}
	}
	input, err := json.Marshal(map[string]any{"skills": all})
	if err != nil {
		return err
	}
	e.Input = string(input)
	if len(unusable) > 0 {
		e.Status, e.Error = "error", secrets.Redact(strings.Join(unusable, "\n"))
	}
	return log.Record(ctx, e)
}
