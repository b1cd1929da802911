package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/policy/identity"
)

// admin runs an admin command and returns what it printed.
func admin(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := &cobra.Command{Use: "admin"}
	cli.Group(cmd, adminCommands()...)
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(context.Background())
	return out.String(), errs.String(), err
}

func TestAdminOnTheFiles(t *testing.T) {
	t.Setenv("SVC_HOME", filepath.Join(t.TempDir(), "svc"))
	out, _, err := admin(t, "add-user", "alice", "--role", "admin", "--expires", "90d", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var added struct{ Name, Role, Token, Expires string }
	if err := json.Unmarshal([]byte(out), &added); err != nil || added.Name != "alice" || added.Role != "admin" ||
		!strings.HasPrefix(added.Token, "svc_") || added.Expires == "" {
		t.Errorf("got %s, %v", out, err)
	}
	if out, _, err := admin(t, "rotate-token", "alice", "--grace", "1d"); err != nil || !strings.Contains(out, "works for another 1d") {
		t.Errorf("got %q, %v", out, err)
	}
	out, _, err = admin(t, "list-users")
	if err != nil || !strings.Contains(out, "alice  admin") || strings.Count(out, "works") != 2 {
		t.Errorf("got %q, %v", out, err)
	}
	if strings.Contains(out, "svc_") {
		t.Errorf("the list has a token in it: %q", out)
	}

	h, err := app.LocateHome()
	if err != nil {
		t.Fatal(err)
	}
	r, err := app.OpenAuditReader(context.Background(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	events, err := r.Events(context.Background(), audit.Filter{})
	if err != nil || len(events) == 0 || !strings.HasPrefix(events[0].User, "os:") || events[0].Type != audit.Admin {
		t.Errorf("got events %+v, %v, want the changes of a local user", events, err)
	}
}

// The commands in the order in which somebody may use them, on the files of a stopped service.
func TestAdminCommands(t *testing.T) {
	t.Setenv("SVC_HOME", filepath.Join(t.TempDir(), "svc"))
	for _, tt := range []struct{ args, want string }{
		{"add-user root --role admin", "Added root"},
		{"add-user bob", "Added bob with the role user"},
		{"set-role bob readonly", "bob has the role readonly."},
		{"set-expiry bob 2126-01-31", "bob ends at 2126-02-01T00:00:00Z."},
		{"set-expiry bob never", "bob has no end."},
		{"set-role bob user --json", `"role": "user"`},
		{"add-token bob --name ci --role readonly --expires 30d", "Added the token ci ("},
		{"rotate-token bob ci", "The old token ci of bob ended. The new one, valid until "},
		{"rotate-token bob ci --json", `"role": "readonly",`},
		{"revoke-token bob ci", "Ended for bob: "},
		{"revoke-token bob ci", "Nothing to end"},
		{"disable-user bob", "bob is disabled."},
		{"list-users", "bob   user      token   never             disabled"},
		{"enable-user bob", "bob is enabled."},
		{"sessions", "USER  SESSION  KIND"},
		{"sessions bob --json", "[]"},
		{"end-sessions bob", "Sessions of bob that were ended: 0."},
		{"end-sessions bob --json", "[]"},
		{"lockouts", "USER  ADDRESS"},
		{"lockouts --json", "[]"},
		{"unlock 192.0.2.1", "192.0.2.1 is not locked out."},
		{"unlock bob --json", "[]"},
		{"remove-user bob", "Removed bob."},
		{"add-user bob", "Added bob"},
		{"remove-user bob --json", `"removed": "`},
	} {
		out, stderr, err := admin(t, strings.Fields(tt.args)...)
		if err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s: got %q, %q, %v; want %q", tt.args, out, stderr, err, tt.want)
		}
	}
	for _, args := range []string{"remove-user root", "set-role root user", "disable-user root", "revoke-token root default"} {
		if _, stderr, err := admin(t, strings.Fields(args)...); err == nil || !strings.Contains(stderr, "the last admin") {
			t.Errorf("%s: got %q, %v; want it refused", args, stderr, err)
		}
	}
}

func TestListUsersWarnsOfOldTokens(t *testing.T) {
	now := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	made := func(days int) identity.Token {
		return identity.Token{ID: "0123456789ab", Name: "ci", Created: now.AddDate(0, 0, -days)}
	}
	for days, want := range map[int]string{0: "works ", 89: "works ", 90: "works, old "} {
		var out bytes.Buffer
		err := printUsers(&out, []identity.Account{{User: identity.User{Name: "bob"}, Tokens: []identity.Token{made(days)}}}, now)
		if err != nil || !strings.Contains(out.String(), want) || !strings.Contains(out.String(), fmt.Sprintf("%d d", days)) {
			t.Errorf("%d days: got %q, %v; want %q", days, out.String(), err, want)
		}
	}
}

func TestAdminUsage(t *testing.T) {
	t.Setenv("SVC_HOME", filepath.Join(t.TempDir(), "svc"))
	for _, tt := range []struct{ args, want string }{
		{"", "a subcommand is missing: use add-token, add-user, "},
		{"ad-user", `admin has no command "ad-user"; did you mean add-user?`},
		{"add-user", "an argument is missing: NAME"},
		{"add-user a --role boss", `--role: unknown role "boss"`},
		{"add-user a --expires never", "--expires: "},
		{"add-user a --expires 2001-01-01", "--expires: "},
		{"rotate-token a --grace -1h", `--grace: "-1h" is not a duration`},
		{"revoke-token", "an argument is missing: NAME"},
		{"add-token a", "--name is missing"},
		{"add-token a --name x --role boss", `--role: unknown role "boss"`},
		{"add-token a --name x --expires soon", "--expires: "},
		{"set-role a", "an argument is missing: ROLE"},
		{"set-role a boss", `unknown role "boss"`},
		{"set-expiry a soon", "90d"},
		{"disable-user", "an argument is missing: NAME"},
		{"end-sessions", "an argument is missing: NAME"},
		{"unlock", "an argument is missing: NAME|ADDRESS"},
		{"list-users x", `unexpected argument "x"`},
	} {
		_, stderr, err := admin(t, strings.Fields(tt.args)...)
		if err == nil || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "Usage: ") {
			t.Errorf("%s: got stderr %q, %v, want %q and the usage", tt.args, stderr, err, tt.want)
		}
	}
	h, err := app.LocateHome()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.Dir()); err == nil {
		t.Error("wrong usage created the data folder")
	}
}

func TestAdminErrors(t *testing.T) {
	t.Setenv("SVC_HOME", filepath.Join(t.TempDir(), "svc"))
	for _, tt := range []struct{ args, want string }{
		{"rotate-token nobody", "nobody"},
		{"revoke-token nobody", "nobody"},
		{"add-token nobody --name ci", "nobody"},
		{"set-role nobody admin", "nobody"},
		{"remove-user nobody", "nobody"},
		{"end-sessions nobody", "nobody"},
		{"add-user a:b", "a:b"},
	} {
		_, stderr, err := admin(t, strings.Fields(tt.args)...)
		if err == nil || !strings.HasPrefix(stderr, "Error: ") || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, "Usage: ") {
			t.Errorf("%s: got stderr %q, %v, want an error with %q and no usage", tt.args, stderr, err, tt.want)
		}
	}
}
