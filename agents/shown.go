package agents

import (
	"encoding/json"
	"slices"
	"strings"

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
	if err == nil && sameSigns(a.args, shown) && slices.Equal(programs(a.input.Command), programs(a.tool.Class(shown).Command)) {
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

// sameSigns reports whether two values of JSON have the same strings but for characters that stand for
// themselves in a shell. The marker that takes the place of a secret is made of such ones.
func sameSigns(was, shown any) bool {
	switch was := was.(type) {
	case string:
		s, ok := shown.(string)
		return ok && signs(was) == signs(s)
	case []any:
		s, ok := shown.([]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for i := range was {
			if !sameSigns(was[i], s[i]) {
				return false
			}
		}
	case map[string]any:
		s, ok := shown.(map[string]any)
		if !ok || len(s) != len(was) {
			return false
		}
		for name, v := range was {
			if !sameSigns(v, s[name]) {
				return false
			}
		}
	}
	return true
}

// signs are the characters of a text that may mean something to a shell, in their order.
func signs(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-+./:,@%=", r):
			return -1
		}
		return r
	}, text)
}
