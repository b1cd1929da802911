package remote

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/svc-gateway/svc/agents/remote/protocol"
)

// Whatever a remote waits for: what people are shown of it is the same after it went through the arguments of a
// call, so that leave is for what it asks for, and the answer is for what it waits for and nothing else.
func FuzzAsks(f *testing.F) {
	f.Add(`[{"id":"i","value":{"action_requests":[{"name":"rm","args":{"b":1.50,"a":"<&>"},"description":"d"}],"review_configs":[{"action_name":"rm","allowed_decisions":["approve"]}]}}]`)
	f.Add(`[{"id":"q","value":{"question":"which?"}},{"id":"i","value":null}]`)
	f.Add(`[{"value":"yes"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var all []protocol.Interrupt
		if json.Unmarshal([]byte(text), &all) != nil || len(all) == 0 {
			return
		}
		a := readAsks(all)
		if a.Unfit != "" {
			return
		}
		doc, err := encode(Answer{Task: "t", Remote: "r", Asks: a.List})
		if err != nil {
			t.Fatal(err)
		}
		var args map[string]any
		if err := json.Unmarshal(doc, &args); err != nil {
			t.Fatal(err)
		}
		b, err := readAnswer(args)
		if err != nil || !same(a, &Asks{List: b.Asks}) {
			t.Errorf("shown as %s, which is another: %v", doc, err)
		}
		decisions, err := a.decided(nil)
		if err != nil {
			return // the remote takes no yes
		}
		resume, err := a.resume(decisions, json.RawMessage(`"answer"`))
		if err != nil {
			t.Fatal(err)
		}
		var byID map[string]json.RawMessage
		if all[0].ID == "" || json.Unmarshal(resume, &byID) != nil {
			return
		}
		for id := range byID {
			if !slices.ContainsFunc(all, func(i protocol.Interrupt) bool { return i.ID == id }) {
				t.Errorf("%s answers %q, which nobody asked", resume, id)
			}
		}
	})
}
