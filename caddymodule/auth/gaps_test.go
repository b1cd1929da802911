package auth

import (
	"strings"
	"testing"
)

func TestGaps(t *testing.T) {
	for paths, want := range map[string]string{
		"*": "", "/*": "", "/": "", "/admins": "", "/admins/": "", "/admins*": "", "*.php": "", "*/admins": "", "/*/admins": "", "/api*/admins": "",
		"/admins/*":           "/admins itself",
		"/admins/* /admins*":  "",
		"/api/admins*":        "/api;x/admins*",
		"/api/v1/admins":      "/api;x/v1/admins",
		"/api/admins*  /api*": "",
		"/api/admins/*":       "/api/admins itself, /api;x/admins/*",
	} {
		var got []string
		for _, gap := range gaps(strings.Fields(paths)) {
			_, open, _ := strings.Cut(gap, " leaves ")
			open, _, _ = strings.Cut(open, " open")
			got = append(got, open)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", paths, got, want)
		}
	}
}
