package auth_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

func TestDenialsAndNewAddressesAreOnRecord(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{
		Global: "servers {\ntrusted_proxies static 127.0.0.1/32\n}",
		Site:   "svc_auth /install/* {\nrequire install\n}\nsvc_auth\nhandle /approve/* {\nsvc_auth {\nrequire approve-write\n}\n}\nrespond ok",
	})
	ursula := srv.AddUser("ursula", policy.User, time.Time{})
	for _, request := range [][2]string{
		{"/", "192.0.2.1"},
		{"/install/x", "192.0.2.1"},
		{"/approve/x?secret=1", "192.0.2.1"},
		{"/", "2001:db8::1"},
		{"/", "2001:db8::2"},
	} {
		srv.Send(srv.Request(http.MethodPost, request[0], "{}", "Authorization", "Bearer "+ursula, "X-Forwarded-For", request[1]))
	}
	want := []string{
		`permission.denied ursula user 192.0.2.1 POST /install/x install deny permission ["permission: role user may not install"] denied`,
		`permission.denied ursula user 192.0.2.1 POST /approve/x approve-write deny permission ["permission: role user may not approve-write"] denied`,
		`token.new_address ursula user 2001:db8::1       `,
	}
	query := `select type, user, role, address, coalesce(method, ''), coalesce(path, ''), coalesce(action, ''),
		coalesce(decision, ''), coalesce(rule, ''), coalesce(reasons, ''), coalesce(status, '') from audit_events
		where type in ('permission.denied', 'token.new_address') order by seq`
	var got []string
	srv.Eventually("the records are written", func() bool {
		got = srv.Audit(query)
		return len(got) >= len(want)
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}
