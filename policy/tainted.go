package policy

import (
	"fmt"

	"github.com/svc-gateway/svc/policy/provenance"
)

// maxTainted bounds how many targets of a call the reasons name.
const maxTainted = 8

// Tainted says which text named what a call reaches for and the user did not, when a rule applied to a call
// after untrusted text. It holds what the snapshot shows.
func (s Snapshot) Tainted(labels []string, d Decision) []string {
	if !provenance.Untrusted(labels) || d.Rule == "" && len(d.Observed) == 0 {
		return nil
	}
	var all []string
	for _, t := range s.Targets {
		if t.Source == provenance.SourceUser || len(all) == maxTainted {
			continue
		}
		reason := fmt.Sprintf("target %s %s %q: from %s", t.Argument, t.Kind, t.Value, t.Source)
		if t.Fragment != "" {
			reason += fmt.Sprintf(", in %q", t.Fragment)
		}
		all = append(all, reason)
	}
	return all
}
