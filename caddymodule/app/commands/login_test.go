package commands

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The attack: a server that somebody is lured to with --url gets the token of another one, or has it
// overwritten by saying that it is a session's.
func TestLoginTellsNoServerTheTokenOfAnother(t *testing.T) {
	var sent []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/auth/login" {
			fmt.Fprint(w, `{"token":"session`, len(sent), `"}`)
			return
		}
		fmt.Fprint(w, `{"user":"eve","role":"admin","source":"ldap","session_id":"1"}`)
	}))
	defer other.Close()
	home := t.TempDir()
	t.Setenv("SVC_HOME", home)
	stored := filepath.Join(home, "token")
	if err := os.WriteFile(stored, []byte("first\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	login := func(secret string, args ...string) {
		t.Helper()
		var cmd cobra.Command
		loginCommand(&cmd)
		cmd.SetArgs(append(args, "--url", other.URL))
		cmd.SetIn(strings.NewReader(secret + "\n"))
		cmd.SetOut(t.Output())
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (tokens []string) {
		t.Helper()
		paths, err := filepath.Glob(stored + ".????????????")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, strings.TrimSpace(string(text)))
		}
		slices.Sort(tokens)
		return tokens
	}
	login("second", "--token-stdin")
	if got := kept(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("kept %q, want the first", got)
	}
	for range 3 {
		login("password", "--user", "eve", "--password-stdin")
	}
	if got := kept(); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("kept %q, want those that are not of sessions", got)
	}
	if slices.Contains(sent, "Bearer first") {
		t.Errorf("the other server got the stored token: %q", sent)
	}
}
