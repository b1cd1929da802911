package app_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func init() {
	caddy.RegisterModule(new(probe))
}

// probe is a Caddy app that looks at ours while it is provisioned, as the stages do.
type probe struct {
	Answer  string `json:"answer"`
	Fail    bool   `json:"fail"`
	OnStart bool   `json:"on_start"` // what is to be done at the start fails
}

var probed *app.App

func (*probe) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "probe", New: func() caddy.Module { return new(probe) }}
}

func (p *probe) Provision(ctx caddy.Context) error {
	a, err := app.Get(ctx)
	if err != nil {
		return err
	}
	probed = a
	a.OnStart(func(context.Context) error {
		if p.OnStart {
			return errors.New("asked to fail on start")
		}
		return nil
	})
	a.HandleControl("GET /probe", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _ := policy.PrincipalFrom(r.Context())
		_, _ = io.WriteString(w, p.Answer+" to "+who.User+" "+string(who.Role)+" "+who.Source)
	}))
	return nil
}

func (p *probe) Start() error {
	if p.Fail {
		return errors.New("asked to fail")
	}
	return nil
}
func (p *probe) Stop() error { return nil }

// home makes the process use a data folder of the test's own.
func home(t *testing.T) settings.Home {
	t.Helper()
	t.Setenv("SVC_HOME", filepath.Join(t.TempDir(), "svc"))
	h, err := app.LocateHome()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func load(t *testing.T, apps string) error {
	t.Helper()
	t.Cleanup(func() { _ = caddy.Stop() })
	return caddy.Load([]byte(`{"admin": {"disabled": true}, "logging": {"logs": {"default": {"level": "ERROR"}}}, "apps": {`+apps+`}}`), true)
}

func ask(t *testing.T, h settings.Home, path string) (string, error) {
	t.Helper()
	resp, err := cli.NewClient(h).Send(context.Background(), http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestStatusAndFiles(t *testing.T) {
	h := home(t)
	if err := load(t, `"probe": {"answer": "a"}, "svc": {"runtime": {"max_steps": 7}}, "http": {"servers": {"s": {"listen": ["127.0.0.1:0"]}}}`); err != nil {
		t.Fatal(err)
	}
	s, err := cli.NewClient(h).Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if s.PID != os.Getpid() || s.Home != h.Dir() || s.Harness == "" || s.Version == "" || s.URL() != "http://127.0.0.1:0" || s.Stopping {
		t.Errorf("got status %+v", s)
	}
	pid, err := os.ReadFile(h.PIDFile())
	if err != nil || strings.TrimSpace(string(pid)) != strconv.Itoa(os.Getpid()) {
		t.Errorf("got pid file %q, %v", pid, err)
	}
	for path, want := range map[string]os.FileMode{
		h.Dir(): 0o700, filepath.Dir(h.ControlSocket()): 0o700, h.ControlSocket(): 0o600, h.PIDFile(): 0o600,
		h.AuditDB(): 0o600, h.IdentityDB(): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got mode %v, %v, want %o", path, info.Mode().Perm(), err, want)
		}
	}
	if probed.Settings().Runtime.MaxSteps != 7 || probed.Settings().Runtime.ProjectRoot == "" || probed.Node() == "" {
		t.Errorf("got settings %+v of node %q", probed.Settings().Runtime, probed.Node())
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{h.ControlSocket(), h.PIDFile()} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
}

func TestDefaultsWithoutGlobalOption(t *testing.T) {
	home(t)
	if err := load(t, `"probe": {}`); err != nil {
		t.Fatal(err)
	}
	if got := probed.Settings().Auth.Mode; len(got) != 1 || got[0] != settings.ModeNone {
		t.Errorf("got auth.mode %v, want none", got)
	}
}

func TestReloadKeepsWhatIsShared(t *testing.T) {
	h := home(t)
	if err := load(t, `"probe": {"answer": "first"}`); err != nil {
		t.Fatal(err)
	}
	first := probed
	if err := load(t, `"probe": {"answer": "second"}`); err != nil {
		t.Fatal(err)
	}
	if probed == first || probed.Audit() != first.Audit() || probed.Identity() != first.Identity() || probed.Bus() != first.Bus() {
		t.Error("want a new app with the shared resources of the old one")
	}
	if err := first.Audit().Record(context.Background(), audit.Event{Type: audit.Admin}); err != nil {
		t.Errorf("a request of the old configuration finds its audit log closed: %v", err)
	}
	got, err := ask(t, h, "/probe")
	if want := "second to " + identity.OSPrincipal(os.Geteuid()).User + " admin os"; got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	select {
	case <-first.Stopping():
		t.Error("a reload closed Stopping")
	default:
	}
	if err := load(t, `"probe": {"answer": "third", "fail": true}`); err == nil {
		t.Fatal("a configuration that fails to start was loaded")
	}
	if got, err := ask(t, h, "/probe"); !strings.HasPrefix(got, "second to ") {
		t.Errorf("after a failed reload: got %q, %v, want the second configuration's answer", got, err)
	}
}

func TestHoldOutlivesTheApp(t *testing.T) {
	h := home(t)
	if err := load(t, `"probe": {}`); err != nil {
		t.Fatal(err)
	}
	old := probed
	release := old.Hold()
	if err := load(t, ``); err != nil { // a configuration without svc
		t.Fatal(err)
	}
	if err := old.Audit().Record(context.Background(), audit.Event{Type: audit.Admin}); err != nil {
		t.Errorf("held, yet closed: %v", err)
	}
	if _, err := ask(t, h, "/probe"); err == nil || !strings.Contains(err.Error(), "does not use the svc app") {
		t.Errorf("got %v, want a clear refusal", err)
	}
	release()
	release()
	if err := old.Audit().Record(context.Background(), audit.Event{Type: audit.Admin}); err == nil {
		t.Error("the audit log is open though nobody holds it")
	}
}

func TestOneProcessAFolder(t *testing.T) {
	h := home(t)
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.ControlSocket(), nil, 0o600); err != nil { // left by a crash
		t.Fatal(err)
	}
	if err := os.WriteFile(h.PIDFile(), []byte("4242\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock := app.LockForTest(t, h)
	err := load(t, `"svc": {}`)
	if err == nil || !strings.Contains(err.Error(), "the data folder is in use: the process 4242 works on "+h.Dir()) {
		t.Errorf("got %v, want an error that names the process", err)
	}
	unlock()
	if err := load(t, `"svc": {}`); err != nil {
		t.Errorf("stale socket and pid file: %v", err)
	}
}

func TestValidateBesideARunningService(t *testing.T) {
	h := home(t)
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	defer app.LockForTest(t, h)()
	if err := caddy.Validate(&caddy.Config{AppsRaw: caddy.ModuleMap{"svc": []byte(`{"auth": {"mode": "token"}}`)}}); err != nil {
		t.Error(err)
	}
}

func TestBootstrap(t *testing.T) {
	h := home(t)
	if err := h.WriteToken("svc_of_another_service"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second start changes nothing
		if err := load(t, `"probe": {}, "svc": {"auth": {"mode": ["token"]}}`); err != nil {
			t.Fatal(err)
		}
		token, err := os.ReadFile(h.Token())
		if err != nil {
			t.Fatal(err)
		}
		p, err := probed.Identity().Verify(context.Background(), strings.TrimSpace(string(token)))
		if err != nil || p.User != "admin" || p.Role != policy.Admin {
			t.Errorf("got principal %+v, %v", p, err)
		}
		if err := caddy.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(h.Token() + ".old"); err != nil || string(old) != "svc_of_another_service\n" {
		t.Errorf("got the old token %q, %v", old, err)
	}
}

func TestConfigurationErrors(t *testing.T) {
	for _, tt := range []struct{ name, svc, file, want string }{
		{"unknown key", `{"auth": {"mod": "token"}}`, "", "auth.mod is not a setting; did you mean auth.mode?"},
		{"file", `{}`, "{\n\"auth\": {\"mode\": \"ldap\"}}", "ldap.url is missing: auth.mode ldap needs the address of the directory"},
		{"missing key variable", `{"model": {"provider": "openai", "name": "m", "api_key_env": "SVC_TEST_NO_SUCH"}}`, "", "names SVC_TEST_NO_SUCH, which is not set"},
		{"missing placeholder", `{"model": {"name": "{env.SVC_TEST_NO_SUCH}"}}`, "", "replacing placeholders"},
		{"project root", `{"runtime": {"project_root": "/no/such"}}`, "", "runtime.project_root: lstat /no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := home(t)
			if tt.file != "" {
				if err := os.MkdirAll(filepath.Dir(h.Config()), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(h.Config(), []byte(tt.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := load(t, `"svc": `+tt.svc); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestPlaceholders(t *testing.T) {
	home(t)
	t.Setenv("STEPS", "9")
	t.Setenv("PASSWORD", "hunter2")
	if err := load(t, `"probe": {}, "svc": {"runtime": {"max_steps": "{env.STEPS}"}, "ldap": {"bind_password": "{env.PASSWORD}"}}`); err != nil {
		t.Fatal(err)
	}
	if got := probed.Settings().LDAP.BindPassword; got != "{env.PASSWORD}" {
		t.Errorf("got %q for a secret, want the place where it is", got)
	}
	if got := probed.Settings().Runtime.MaxSteps; got != 9 {
		t.Errorf("got %d, want 9", got)
	}
}
