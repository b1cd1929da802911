package app

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// admin runs an admin command and returns what it printed.
func admin(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := &cobra.Command{Use: "admin"}
	cli.Group(cmd, addUserCommand(), listUsersCommand(), revokeTokenCommand(), rotateTokenCommand())
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
	if out, _, err := admin(t, "rotate-token", "alice", "--grace", "1d"); err != nil || !strings.Contains(out, "works for 24h0m0s more") {
		t.Errorf("got %q, %v", out, err)
	}
	out, _, err = admin(t, "list-users")
	if err != nil || !strings.Contains(out, "alice  admin") || strings.Count(out, "works") != 2 {
		t.Errorf("got %q, %v", out, err)
	}
	if strings.Contains(out, "svc_") {
		t.Errorf("the list has a token in it: %q", out)
	}

	h, err := LocateHome()
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.OpenReader(context.Background(), h.AuditDB())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	events, err := r.Events(context.Background(), audit.Filter{})
	if err != nil || len(events) == 0 || !strings.HasPrefix(events[0].User, "os:") || events[0].Type != audit.Admin {
		t.Errorf("got events %+v, %v, want the changes of a local user", events, err)
	}
}

func TestAdminUsage(t *testing.T) {
	t.Setenv("SVC_HOME", filepath.Join(t.TempDir(), "svc"))
	for _, tt := range []struct{ args, want string }{
		{"", "a subcommand is missing: use add-user, "},
		{"ad-user", `there is no subcommand "ad-user"`},
		{"add-user", "accepts 1 arg(s), received 0"},
		{"add-user a --role boss", `--role: unknown role "boss"`},
		{"add-user a --expires never", "--expires: "},
		{"add-user a --expires 2001-01-01", "--expires: "},
		{"rotate-token a --grace -1h", `--grace: "-1h" is not a duration`},
		{"revoke-token", "accepts between 1 and 2 arg(s), received 0"},
		{"list-users x", "unknown command"},
	} {
		_, stderr, err := admin(t, strings.Fields(tt.args)...)
		if err == nil || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "Usage: ") {
			t.Errorf("%s: got stderr %q, %v, want %q and the usage", tt.args, stderr, err, tt.want)
		}
	}
	h, err := LocateHome()
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
		{"add-user a:b", "a:b"},
	} {
		_, stderr, err := admin(t, strings.Fields(tt.args)...)
		if err == nil || !strings.HasPrefix(stderr, "Error: ") || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, "Usage: ") {
			t.Errorf("%s: got stderr %q, %v, want an error with %q and no usage", tt.args, stderr, err, tt.want)
		}
	}
}
