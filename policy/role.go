package policy

import "fmt"

// Role is what a user may do in general. The zero value may do nothing.
type Role string

// The roles, strongest first.
const (
	Admin    Role = "admin"
	User     Role = "user"
	Readonly Role = "readonly"
)

// Roles returns all roles, strongest first.
func Roles() []Role { return []Role{Admin, User, Readonly} }

// ParseRole returns the role of that name. The error names the roles there are.
func ParseRole(s string) (Role, error) {
	switch r := Role(s); r {
	case Admin, User, Readonly:
		return r, nil
	}
	return "", fmt.Errorf("unknown role %q: want admin, user or readonly", s)
}

// May reports whether the role permits the action with every agent and every skill: the row
// of the permission table for things that are not tool calls.
func (r Role) May(a Action) bool { return Permitted(r, Any, Any, a) }

// Weaker returns the role of the two that may do less. An unknown role is weaker than all
// others.
func Weaker(a, b Role) Role {
	if a.rank() < b.rank() {
		return a
	}
	return b
}

func (r Role) rank() int {
	switch r {
	case Admin:
		return 3
	case User:
		return 2
	case Readonly:
		return 1
	}
	return 0
}
