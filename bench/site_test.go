package main

import (
	"strings"
	"testing"
)

func TestWithStages(t *testing.T) {
	got, err := withStages(stagesCaddyfile, []string{"svc_scan", "svc_redact"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"svc_auth": false, "svc_scan": true, "svc_redact": true, "svc_stream": false} {
		if strings.Contains(got, name) != want {
			t.Errorf("%s: got it %v, want %v", name, !want, want)
		}
	}
	if _, err := withStages(stagesCaddyfile, []string{"svc_scam"}); err == nil {
		t.Error("an unknown stage is no error")
	}
}
