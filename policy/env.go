package policy

import (
	"time"

	"github.com/svc-gateway/svc/policy/provenance"
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
	Paths      []string       `expr:"paths"`
	Command    commandEnv     `expr:"command"`
	Categories []string       `expr:"categories"` // of the call and its command
	Labels     []string       `expr:"labels"`
	Findings   []findingEnv   `expr:"findings"`
	Time       timeEnv        `expr:"time"`

	FromUser  func(argument string) bool `expr:"from_user"`
	Untrusted func() bool                `expr:"untrusted"`
	Targets   func() []targetEnv         `expr:"targets"`

	Count func(by any, window string) (float64, error)                `expr:"count"`
	Sum   func(amount any, window string, by ...any) (float64, error) `expr:"sum"`

	counters
	traced []provenance.Target
}

// counters is what count and sum work with.
type counters struct {
	rule   string
	counts map[string]float64
	wants  []Counter
}

type principalEnv struct {
	User       string   `expr:"user" json:"user"`
	Role       string   `expr:"role" json:"role"`
	Groups     []string `expr:"groups" json:"groups,omitempty"`
	Source     string   `expr:"source" json:"source,omitempty"`
	OnBehalfOf string   `expr:"on_behalf_of" json:"on_behalf_of,omitempty"`
	Address    string   `expr:"address" json:"address,omitempty"`
}

type commandEnv struct {
	Present  bool      `expr:"present" json:"present"` // false when the call runs no command
	Class    string    `expr:"class" json:"class,omitempty"`
	Confined bool      `expr:"confined" json:"confined,omitempty"` // of the class mutate: nothing but files in the root is needed
	Traits   []string  `expr:"traits" json:"traits,omitempty"`     // network, reads_secret, endless, pager, privileged
	Parts    []partEnv `expr:"parts" json:"parts,omitempty"`
}

type partEnv struct {
	Name    string   `expr:"name" json:"name"`
	Args    []string `expr:"args" json:"args,omitempty"`
	Dynamic bool     `expr:"dynamic" json:"dynamic,omitempty"`
}

type findingEnv struct {
	Category   string  `expr:"category" json:"category"`
	Rule       string  `expr:"rule" json:"rule"`
	Confidence string  `expr:"confidence" json:"confidence"`
	Score      float64 `expr:"score" json:"score"`
}

// timeEnv is the time of the decision, in the zone that it has in the input.
type timeEnv struct {
	Date    string `expr:"date" json:"date"`       // 2027-01-31
	Clock   string `expr:"clock" json:"clock"`     // 18:05: times of a day compare as text
	Weekday string `expr:"weekday" json:"weekday"` // monday
	Year    int    `expr:"year" json:"year"`
	Month   int    `expr:"month" json:"month"`
	Day     int    `expr:"day" json:"day"`
	Hour    int    `expr:"hour" json:"hour"`
	Minute  int    `expr:"minute" json:"minute"`
}

func newEnv(in *Input, q *question) *env {
	e := &env{
		Principal:  newPrincipalEnv(&in.Principal),
		Agent:      in.Agent,
		Skill:      q.Skill,
		Tool:       in.Tool,
		Action:     string(q.Action),
		Arguments:  in.Arguments,
		Paths:      in.Paths,
		Command:    newCommandEnv(in.Command),
		Categories: q.categories,
		Labels:     in.Labels,
		Findings:   newFindingEnvs(in.Findings),
		Time:       newTimeEnv(in.Time),
		counters:   counters{counts: in.Counts},
		traced:     in.Targets,
	}
	e.Count, e.Sum = e.count, e.sum
	e.FromUser, e.Untrusted, e.Targets = e.fromUser, e.untrusted, e.targets
	return e
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
	return commandEnv{true, string(c.Class), c.Confined, c.Traits, parts}
}

func newFindingEnvs(findings []scanner.Finding) []findingEnv {
	if len(findings) == 0 {
		return nil
	}
	list := make([]findingEnv, len(findings))
	for i, f := range findings {
		list[i] = findingEnv{string(f.Category), f.Rule, string(f.Confidence), f.Score}
	}
	return list
}

var weekdays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

func newTimeEnv(t time.Time) timeEnv {
	year, month, day := t.Date()
	var text [len("2006-01-02 15:04")]byte
	written := string(t.AppendFormat(text[:0], "2006-01-02 15:04"))
	date, clock := written[:len(written)-6], written[len(written)-5:]
	return timeEnv{
		Date: date, Clock: clock, Weekday: weekdays[t.Weekday()],
		Year: year, Month: int(month), Day: day, Hour: t.Hour(), Minute: t.Minute(),
	}
}
