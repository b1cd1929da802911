package headername_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/headername"
)

func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"Remote-User": "remoteuser", "Remote+User": "remoteuser", "REMOTE_USER": "remoteuser", "Remote!~|User.": "remoteuser",
		"RemoteUser": "remoteuser", "X-Svc-2": "xsvc2", "": "", "-_.": "",
	} {
		if got := headername.Fold(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestSet(t *testing.T) {
	if set := headername.Set("X-Real-Ip", "Via"); !set["xrealip"] || !set["via"] || len(set) != 2 {
		t.Errorf("got %v", set)
	}
}
