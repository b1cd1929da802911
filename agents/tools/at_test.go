package tools

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy"
)

func TestAt(t *testing.T) {
	args := map[string]any{"language": "bash", "code": "curl -X DELETE http://x/y"}
	tool := RunCode(CodeConfig{Timeout: time.Second})
	same := At(tool, "")
	if got := same.Class(args).Where; got != "in a sandbox with a workspace of its own" {
		t.Errorf("got %q", got)
	}
	moved := At(tool, "in a sandbox of daytona")
	got := moved.Class(args)
	if got.Where != "in a sandbox of daytona" || got.Refused == "" || got.Action != policy.Mutate || len(got.Findings) == 0 {
		t.Errorf("got %+v", got)
	}
	if got := tool.Class(args).Where; got != "in a sandbox with a workspace of its own" {
		t.Errorf("the tool itself has changed: %q", got)
	}
}
