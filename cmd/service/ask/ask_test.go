package ask_test

import (
	"encoding/json"
	"testing"

	"github.com/svc-gateway/svc/cmd/service/ask"
)

func TestARunIsTheSpecs(t *testing.T) {
	got, err := json.Marshal(ask.Prompt("x"))
	if want := `{"input":{"messages":[{"role":"user","content":"x"}]}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
