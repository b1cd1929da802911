package settings_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestApprovals(t *testing.T) {
	long := strings.Repeat("x", 32)
	for _, tc := range []struct {
		name string
		vars map[string]string
		want string // of the error; empty: none
	}{
		{"nothing", nil, ""},
		{"a webhook", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "https://alerts.example.com/svc?channel=1", "SVC_APPROVALS_WEBHOOK_SECRET": long}, ""},
		{"plain http", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "http://127.0.0.1/x", "SVC_APPROVALS_WEBHOOK_SECRET": long}, "use https"},
		{"plain http to a server of one's own", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "http://127.0.0.1/x", "SVC_APPROVALS_WEBHOOK_SECRET": long, "SVC_APPROVALS_WEBHOOK_PRIVATE": "true"}, ""},
		{"no secret", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "https://alerts.example.com/"}, "approvals.webhook_secret is missing"},
		{"a weak secret", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "https://alerts.example.com/", "SVC_APPROVALS_WEBHOOK_SECRET": "short"}, "has 5 bytes"},
		{"no address", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "alerts"}, "this is not an address"},
		{"a user in the address", map[string]string{"SVC_APPROVALS_WEBHOOK_URL": "https://me:topsecret@alerts.example.com/"}, "this is not an address"},
		{"time", map[string]string{"SVC_APPROVALS_TTL": "0s"}, "approvals.ttl"},
		{"auto", map[string]string{"SVC_AUTO_APPROVE": "yes"}, "SVC_AUTO_APPROVE"},
		{"auto on", map[string]string{"SVC_AUTO_APPROVE": "true"}, ""},
	} {
		s, _, err := settings.Resolve(settings.Layers{Env: env(tc.vars)})
		if err == nil {
			err = s.CheckEnvironment(env(tc.vars))
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if (tc.want == "") != (err == nil) || !strings.Contains(got, tc.want) || strings.Contains(got, "topsecret") || strings.Contains(got, "short:") {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
		if tc.name == "auto on" && !s.Approvals.Auto {
			t.Error("SVC_AUTO_APPROVE=true has no effect")
		}
	}
}
