package policy

// Action is a kind of operation; roles differ in the actions they may perform.
type Action string

// The actions of the permission table.
const (
	Use          Action = "use"           // look: read-only tools, own threads and runs
	Mutate       Action = "mutate"        // change something outside of the service
	Install      Action = "install"       // add skills, tool servers, assistants, policies
	AdminAction  Action = "admin"         // manage users, see what others own
	ApproveWrite Action = "approve-write" // decide on an approval
)

// Actions returns all actions in the order of the permission table's columns.
func Actions() []Action { return []Action{Use, Mutate, Install, AdminAction, ApproveWrite} }

// Known reports whether a is an action of the permission table.
func (a Action) Known() bool {
	switch a {
	case Use, Mutate, Install, AdminAction, ApproveWrite:
		return true
	}
	return false
}
