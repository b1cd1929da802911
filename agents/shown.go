package agents

import (
	"encoding/json"
	"slices"

	"github.com/svc-gateway/svc/agents/masked"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// judgeable refuses a command of which people would not see all that a shell does. The redactor finds
// credentials by the words around them, and whoever wrote the command chose those words: what is shown as
// --password=REDACTED may be --password=x;reboot. A hidden part may be an argument, or a part of one.
func (g *gate) judgeable(a *analysis, d *policy.Decision) {
	if d.Effect != policy.Approve || a.input.Command == nil {
		return
	}
	var shown map[string]any
	err := json.Unmarshal(g.secrets.RedactJSON([]byte(a.raw)), &shown)
	if err == nil && masked.SameSigns(a.args, shown) && slices.Equal(programs(a.input.Command), programs(a.tool.Class(shown).Command)) {
		return
	}
	d.Effect, d.Code = policy.Deny, "approval_hidden"
	d.Message = "What looks like a credential in this command is more than one plain word, and nobody can approve what is not shown. " +
		"Have the command read the credential from a file."
	d.Reasons = append([]string{"leave: the command would not be shown as a whole"}, d.Reasons...)
}

// programs are the names of what a command runs.
func programs(c *command.Command) (names []string) {
	if c != nil {
		for _, p := range c.Parts {
			names = append(names, p.Name)
		}
	}
	return names
}
