package policy

// Any is the wildcard in each position of a [Triple].
const Any = "*"

// Triple is what a permission is checked on.
type Triple struct {
	Agent  string `json:"agent"`
	Skill  string `json:"skill"`
	Action Action `json:"action"`
}

// grant gives a role what its triple covers.
type grant struct {
	Role Role `json:"role"`
	Triple
}

// table is the permission table. It is part of the program: no database, file or setting
// changes it.
var table = [...]grant{
	{Admin, Triple{Any, Any, Any}},
	{User, Triple{Any, Any, Use}},
	{User, Triple{Any, Any, Mutate}},
	{Readonly, Triple{Any, Any, Use}},
}

// Permitted reports whether the permission table grants the role the triple
// (agent, skill, action). [Any] in the question asks about all agents, skills or actions at
// once, so only a grant that is wild in that position answers it. An empty name and an
// unknown action are never granted.
func Permitted(role Role, agent, skill string, action Action) bool {
	return permitted(table[:], role, Triple{agent, skill, action})
}

func permitted(grants []grant, role Role, t Triple) bool {
	if t.Agent == "" || t.Skill == "" || (!t.Action.Known() && t.Action != Any) {
		return false
	}
	for i := range grants {
		if g := &grants[i]; g.Role == role && g.covers(t) {
			return true
		}
	}
	return false
}

// covers reports whether everything that want stands for is within t.
func (t *Triple) covers(want Triple) bool {
	return (t.Agent == Any || t.Agent == want.Agent) &&
		(t.Skill == Any || t.Skill == want.Skill) &&
		(t.Action == Any || t.Action == want.Action)
}
