package compat_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/compat"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct{ version, want string }{
		{compat.Version, ""},
		{"0.9.0", ""},
		{"0.4.11", "too old for harness features"},
		{"0.0.0", "too old for harness features"},
		{"1.0.0", "too new for harness features"},
		{"2.3.1", "too new for harness features"},
		{"", "no valid version"},
		{"latest", "no valid version"},
	} {
		err := compat.Check(tc.version)
		if tc.want == "" {
			if err != nil {
				t.Errorf("Check(%q): got %v, want nil", tc.version, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Check(%q): got %v, want an error with %q", tc.version, err, tc.want)
		}
	}
}
