package convention

import "testing"

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       bool
	}{
		{"done", `{}`, true},
		{"", `[DONE]`, true},
		{"", `{"type":"response.completed"}`, true},
		{"", `{"type":"response.created"}`, false},
		{"", `{"type":"done"`, false},
		{"", `done`, false},
		{"input.requested", `{}`, true},
		{"lifecycle", `{"type":"event","params":{"namespace":[],"data":{"event":"completed"}}}`, true},
		{"lifecycle", `{"type":"event","params":{"namespace":[],"data":{"event":"running"}}}`, false},
		{"lifecycle", `{"type":"event","params":{"namespace":["tools:1"],"data":{"event":"completed"}}}`, false},
	} {
		if got := Ends(tt.name, []byte(tt.data)); got != tt.want {
			t.Errorf("%q %s: got %v, want %v", tt.name, tt.data, got, tt.want)
		}
	}
}

func TestCall(t *testing.T) {
	for data, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                         true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:               true,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`:          false,
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update"}}`: false,
		`{"jsonrpc":"2.0","id":1,"result":{"artifact":{"parts":[]}}}`:  false,
		`{"id":1,"result":{}}`:                                         false,
		`["jsonrpc"]`:                                                  false,
	} {
		if got := Call("message", []byte(data)); got != want {
			t.Errorf("%s: got %v, want %v", data, got, want)
		}
	}
	if !Call("endpoint", []byte("/message?sessionId=1")) {
		t.Error("the address to write to is no call")
	}
}

func TestModeOf(t *testing.T) {
	for name, want := range map[string]Mode{"": Pieces, "values": Wholes, "values|sub:1": Wholes, "lifecycle": Wholes, "messages/partial": Growing, "messages/complete": Grown} {
		if got := ModeOf(name); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}
