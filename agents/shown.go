package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/svc-gateway/svc/agents/masked"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// maxField bounds the name of a field in a message: whoever writes arguments may choose it.
const maxField = 100

// judgeable refuses a call of which people would not see all that it does. The redactor finds credentials
// by the words around them, and whoever wrote the arguments chose those words: what is shown as
// --password=REDACTED may be --password=x;reboot. A hidden part may be an argument, or a part of one.
// In a command it is one word of a shell; what else reads arguments is not known, and it is letters and digits.
func (g *gate) judgeable(a *analysis, d *policy.Decision) {
	if d.Effect != policy.Approve {
		return
	}
	same, does := masked.OnlyWords, "Leave it out, write it apart from the rest, or name where the credential is kept"
	if a.input.Command != nil {
		same, does = masked.SameSigns, "Have the command read the credential from a file"
	}
	shown, err := g.shown([]byte(a.raw))
	if err == nil && same(a.args, shown) && masked.Plain(a.args, shown, g.secrets.RedactJSON) &&
		(a.input.Command == nil || slices.Equal(programs(a.input.Command), programs(a.tool.Class(shown).Command))) {
		return
	}
	field := "the arguments"
	if f := masked.Where(a.args, shown, same); f != "" && len(f) <= maxField {
		field = strconv.Quote(f)
	}
	d.Effect, d.Code = policy.Deny, "approval_hidden"
	d.Message = fmt.Sprintf("What looks like a credential in %s is more than one plain word, and nobody can approve what is not shown. %s.", field, does)
	d.Reasons = append([]string{"leave: " + field + " would not be shown as a whole"}, d.Reasons...)
}

// shown is JSON as people see it.
func (g *gate) shown(doc []byte) (v map[string]any, err error) {
	err = json.Unmarshal(g.secrets.RedactJSON(doc), &v)
	return v, err
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
