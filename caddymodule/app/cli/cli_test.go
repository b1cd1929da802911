package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
)

func group(body func(*cobra.Command, []string) error) *cobra.Command {
	root := &cobra.Command{Use: "thing"}
	sub := &cobra.Command{Use: "do NAME", Args: cli.Args(cobra.ExactArgs(1)), RunE: cli.Run(body)}
	sub.Flags().Bool("json", false, "")
	sub.Flags().Int("lines", 1, "")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	cli.Group(root, sub)
	return root
}

func TestUsageAndErrors(t *testing.T) {
	failure := errors.Join(errors.New("first"), errors.New("second"))
	for _, tt := range []struct {
		name, args, want string
		err              error
	}{
		{"no subcommand", "", "Error: a subcommand is missing: use do\nUsage: thing COMMAND\nSee thing --help.\n", nil},
		{"unknown subcommand", "dont", `Error: thing has no command "dont"; did you mean do?`, nil},
		{"unknown flag", "do x --jsn", "Error: there is no flag --jsn; did you mean --json?\nUsage: thing do NAME", nil},
		{"far flag", "do x --configuration", "Error: there is no flag --configuration\n", nil},
		{"unknown letter", "do x -z", "Error: unknown shorthand flag: 'z' in -z\n", nil},
		{"truth value", "do x --json=perhaps", `Error: --json: "perhaps" is not true or false`, nil},
		{"number", "do x --lines=few", `Error: --lines: "few" is not a whole number`, nil},
		{"no value", "do x --lines", `Error: --lines: a value is missing`, nil},
		{"no argument", "do", "Error: an argument is missing: NAME\nUsage: thing do NAME", nil},
		{"too many arguments", "do x y z", `Error: unexpected argument "y"`, nil},
		{"far subcommand", "configure", "Error: thing has no command \"configure\"\n", nil},
		{"usage of the body", "do x", "Error: role is bad\nUsage: thing do NAME", cli.Usagef("role is bad")},
		{"error of the body", "do x", "Error: first\nError: second\n", failure},
		{"silent", "do x", "", cli.Exit(3)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := group(func(*cobra.Command, []string) error { return tt.err })
			var stderr, stdout bytes.Buffer
			cmd.SetErr(&stderr)
			cmd.SetOut(&stdout)
			cmd.SetArgs(strings.Fields(tt.args))
			if err := cmd.Execute(); err == nil {
				t.Error("got no error")
			}
			if !strings.HasPrefix(stderr.String(), tt.want) || tt.want == "" && stderr.Len() > 0 {
				t.Errorf("got stderr %q, want %q", stderr.String(), tt.want)
			}
			if strings.Count(stderr.String(), "Error:") > strings.Count(tt.want, "Error:") {
				t.Errorf("an error is printed twice: %q", stderr.String())
			}
			if stdout.Len() > 0 {
				t.Errorf("got stdout %q", stdout.String())
			}
		})
	}
}

// A build of Caddy with our stages ends with the same code as the service: its main looks for a
// type of its own.
func TestCodesForCaddy(t *testing.T) {
	cmd := group(func(*cobra.Command, []string) error { return cli.Exit(cli.ExitFound) })
	cmd.SetErr(new(bytes.Buffer))
	for args, want := range map[string]string{"do x": "exiting with status 3", "do": "exiting with status 2"} {
		cmd.SetArgs(strings.Fields(args))
		err := cmd.Execute()
		several, ok := err.(interface{ Unwrap() []error })
		if !ok || len(several.Unwrap()) != 2 || several.Unwrap()[1].Error() != want {
			t.Errorf("%s: got %v, want one with %q for Caddy", args, err, want)
		}
		if _, ok := errors.AsType[*cli.CodedError](err); !ok {
			t.Errorf("%s: got %v, want a code for the service", args, err)
		}
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := cli.Table(&out, []string{"name", "role"}, [][]string{{"a\x1b[2J\nb", "admin"}}); err != nil {
		t.Fatal(err)
	}
	if want := "NAME     ROLE\na [2J b  admin\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestReachable(t *testing.T) {
	for in, want := range map[string]string{
		"http://0.0.0.0:2280":  "http://127.0.0.1:2280",
		"http://[::]:2280":     "http://[::1]:2280",
		"https://10.0.0.1:443": "https://10.0.0.1:443",
		"http://host:80":       "http://host:80",
	} {
		if got := cli.Reachable(in); got != want {
			t.Errorf("Reachable(%s): got %s, want %s", in, got, want)
		}
	}
}

func TestClient(t *testing.T) {
	h := home(t)
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", h.ControlSocket())
	if err != nil {
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]string
		if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&in) == nil && in["name"] == "a" {
			_, _ = w.Write([]byte(`{"ok": true}`))
			return
		}
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "no_such_user", Detail: "There is no user b."})
	})}}
	srv.Start()
	defer srv.Close()
	c := cli.NewClient(h)
	var out struct{ OK bool }
	if err := c.Do(context.Background(), http.MethodPost, "/x", map[string]string{"name": "a"}, &out); err != nil || !out.OK {
		t.Errorf("got %+v, %v", out, err)
	}
	if err := c.Do(context.Background(), http.MethodGet, "/x", nil, &out); !problem.HasCode(err, "no_such_user") {
		t.Errorf("got %v, want the problem no_such_user", err)
	}
}

func home(t *testing.T) settings.Home {
	t.Helper()
	dir := t.TempDir()
	h, err := settings.Locate(func(string) (string, bool) { return dir, true }, "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestNotRunning(t *testing.T) {
	for _, stale := range []bool{false, true} {
		h := home(t)
		if stale {
			if err := os.MkdirAll(filepath.Dir(h.ControlSocket()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(h.ControlSocket(), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := cli.NewClient(h).Status(context.Background()); !errors.Is(err, cli.ErrNotRunning) {
			t.Errorf("stale %v: got %v, want ErrNotRunning", stale, err)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{"": "", "one": "one", "one\ntwo\n": "one", "on \r\n": "on ", "12345678": "12345"} {
		if got, err := cli.Line(strings.NewReader(in), 5, "word"); got != want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := cli.Line(iotest.ErrReader(broken), 5, "word"); !errors.Is(err, broken) || err.Error() != "reading the word: broken" {
		t.Errorf("got %v", err)
	}
}
