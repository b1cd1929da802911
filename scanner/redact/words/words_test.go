package words

import "testing"

func TestHandle(t *testing.T) {
	for name, want := range map[string]bool{"nextPageToken": true, "X-CSRF-TOKEN": true, "Mcp-Session-Id": true, "access_token": false, "X-Auth-Token": false} {
		if got := Handle([]byte(name)); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	const line = "  set system key "
	if got := string(FirstField([]byte(line))) + " " + string(LastField([]byte(line))); got != "set key" {
		t.Errorf("got %q", got)
	}
}
