package trail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/trail"
	"github.com/svc-gateway/svc/policy/provenance"
)

func TestRead(t *testing.T) {
	got := trail.Read(
		[]model.Message{{Role: "user", Content: "mine", Labels: []string{"user"}}, {Role: "tool", Content: "from the web", Labels: []string{"tool:http_get"}}},
		[][]model.Message{{
			{Role: "assistant", Content: "a model's", Labels: []string{"user", "tool:http_get"}},
			{Role: "user", Content: "repeated", Labels: []string{"tool:read_file", "user"}},
			{Role: "tool", Labels: []string{"tool:http_get"}},
		}},
	)
	want := []provenance.Text{{Source: "tool:http_get", Text: "from the web"}, {Source: "tool:read_file", Text: "repeated"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
