package agents_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
)

// A command hides a second one in what the redactor takes for a password: who approves sees the first
// only, so that nobody is asked.
func TestACommandThatIsNotShownAsAWholeIsNotMade(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		asked      bool
	}{
		{"a second command", "rm -rf build --password=x;reboot$IFS-f", false},
		{"a substitution", "rm -rf build password=`reboot`", false},
		{"lines", "cat <<X\npassword: |\n  a\n  b\nX\nrm -rf build", false},
		{"a password", "rm -rf build --password=hunter2/3", true},
		{"a quoted password", "rm -rf build --password='hunter2'", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, l, ran := newHeld(t, danger(tc.text))
			l.err = agents.ErrUnavailable // so that the call is not made in any case
			run, _ := f.run("core", "go")
			if len(ran) > 0 {
				t.Errorf("the call was made: %s", <-ran)
			}
			if got := len(l.asked) > 0; got != tc.asked {
				t.Errorf("asked: got %t, want %t", got, tc.asked)
			}
			if got := f.calledStatus(run.ID); !strings.HasSuffix(got, "tool.denied denied") {
				t.Errorf("got %s", got)
			}
		})
	}
}
