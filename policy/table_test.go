package policy

import "testing"

// The table of the specification, cell by cell.
var cells = []struct {
	action                Action
	admin, user, readonly bool
}{
	{Use, true, true, true},
	{Mutate, true, true, false},
	{Install, true, false, false},
	{AdminAction, true, false, false},
	{ApproveWrite, true, false, false},
}

func TestPermittedEveryCell(t *testing.T) {
	if len(cells) != len(Actions()) {
		t.Fatalf("got %d rows, want one for each of %v", len(cells), Actions())
	}
	for _, c := range cells {
		for role, want := range map[Role]bool{Admin: c.admin, User: c.user, Readonly: c.readonly, "": false, "root": false, Any: false} {
			for _, agent := range []string{"core", "quick", Any} {
				for _, skill := range []string{"run_command", Any} {
					if got := Permitted(role, agent, skill, c.action); got != want {
						t.Errorf("Permitted(%q, %q, %q, %q): got %t, want %t", role, agent, skill, c.action, got, want)
					}
				}
			}
			if got := role.May(c.action); got != want {
				t.Errorf("Role(%q).May(%q): got %t, want %t", role, c.action, got, want)
			}
		}
	}
}

func TestPermittedAllActionsAtOnce(t *testing.T) {
	for role, want := range map[Role]bool{Admin: true, User: false, Readonly: false, "": false} {
		if got := Permitted(role, "core", "run_command", Any); got != want {
			t.Errorf("role %q, all actions: got %t, want %t", role, got, want)
		}
	}
}

func TestPermittedDeniesWhatIsMissingOrUnknown(t *testing.T) {
	for _, triple := range []Triple{
		{"", "run_command", Use},
		{"core", "", Use},
		{"core", "run_command", ""},
		{"core", "run_command", "fly"},
		{"core", "run_command", "USE"},
		{},
	} {
		if Permitted(Admin, triple.Agent, triple.Skill, triple.Action) {
			t.Errorf("got %+v permitted", triple)
		}
	}
}

// Wildcards in each position of a grant, on a table that has them one at a time.
func TestWildcards(t *testing.T) {
	grants := []grant{
		{User, Triple{Any, "disk", Use}},
		{User, Triple{"core", Any, Mutate}},
		{User, Triple{"audit", "query", Any}},
		{Readonly, Triple{"core", "disk", Use}},
	}
	tests := []struct {
		role  Role
		want  bool
		asked Triple
	}{
		{User, true, Triple{"core", "disk", Use}},
		{User, true, Triple{"quick", "disk", Use}},
		{User, true, Triple{Any, "disk", Use}},
		{User, false, Triple{"quick", "net", Use}},
		{User, false, Triple{"quick", Any, Use}},
		{User, false, Triple{"quick", "disk", Mutate}},
		{User, true, Triple{"core", "net", Mutate}},
		{User, true, Triple{"core", Any, Mutate}},
		{User, false, Triple{Any, "net", Mutate}},
		{User, false, Triple{"quick", "net", Mutate}},
		{User, true, Triple{"audit", "query", Install}},
		{User, true, Triple{"audit", "query", Any}},
		{User, false, Triple{"audit", Any, Install}},
		{User, false, Triple{"audit", "query", "fly"}},
		{User, false, Triple{"core", "query", Install}},
		{Readonly, true, Triple{"core", "disk", Use}},
		{Readonly, false, Triple{Any, "disk", Use}},
		{Readonly, false, Triple{"core", Any, Use}},
		{Readonly, false, Triple{"core", "disk", Any}},
		{Admin, false, Triple{"core", "disk", Use}},
	}
	for _, tt := range tests {
		if got := permitted(grants, tt.role, tt.asked); got != tt.want {
			t.Errorf("%s %+v: got %t, want %t", tt.role, tt.asked, got, tt.want)
		}
	}
}

func TestParseRole(t *testing.T) {
	for _, r := range Roles() {
		if got, err := ParseRole(string(r)); err != nil || got != r {
			t.Errorf("ParseRole(%q): got %q, %v", r, got, err)
		}
	}
	for _, s := range []string{"", "Admin", "root", " user"} {
		if got, err := ParseRole(s); err == nil || got != "" {
			t.Errorf("ParseRole(%q): got %q without an error", s, got)
		}
	}
}

func TestWeaker(t *testing.T) {
	order := []Role{"", Readonly, User, Admin}
	for i, a := range order {
		for j, b := range order {
			if got, want := Weaker(a, b), order[min(i, j)]; got != want {
				t.Errorf("Weaker(%q, %q): got %q, want %q", a, b, got, want)
			}
		}
	}
}
