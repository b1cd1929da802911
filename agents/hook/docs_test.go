package hook_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/hook"
)

// What the page shows can be copied, and it names every event.
func TestThePageIsRight(t *testing.T) {
	page, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	if len(shown) == 0 {
		t.Fatal("the page shows no file")
	}
	for _, file := range shown {
		f := open(t, hook.Config{})
		f.write(string(file[1]))
		if hooks, mistakes := hook.Check(f.path("hooks.json")); hooks == 0 || mistakes != nil {
			t.Errorf("%s: got %d hooks, %v", file[1], hooks, mistakes)
		}
	}
	for _, event := range hook.Events {
		if !strings.Contains(string(page), "| `"+event+"` |") {
			t.Errorf("the page does not tell of %s", event)
		}
	}
}
