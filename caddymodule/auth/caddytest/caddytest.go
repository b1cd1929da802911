package caddytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard" // reverse_proxy and the rest

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app" // the global option svc, too
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/internal/tcpport"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/adminapi"
)

// Config is what a server is made of.
type Config struct {
	Site   string // directives of the site
	Host   string // a name that the site answers to as well; see [Server.At]
	Svc    string // sections of the global option svc; auth.mode is token unless a mode is set here
	Global string // global options beside svc
	Log    string // file for Caddy's log; default none
}

// Server is a running Caddy.
type Server struct {
	URL   string // http://127.0.0.1:<port>
	Token string // of the user admin; empty when auth.mode is not token
	Home  string // the data folder

	tb     testing.TB
	listen string
	config Config
}

// Start runs Caddy until the test ends.
func Start(tb testing.TB, c Config) *Server {
	tb.Helper()
	if !strings.Contains(c.Svc, "mode ") {
		c.Svc += "\nauth {\nmode token\n}"
	}
	s := &Server{tb: tb, config: c, listen: tcpport.ForTest(tb).Addr(), Home: shortTempDir(tb)}
	s.URL = "http://" + s.listen
	tb.Setenv("SVC_HOME", s.Home)
	s.Load(c.Site)
	tb.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			tb.Errorf("stopping Caddy: %v", err)
		}
	})
	if token, err := os.ReadFile(filepath.Join(s.Home, "token")); err == nil {
		s.Token = strings.TrimSpace(string(token))
	}
	return s
}

// At is the site's address under another name.
func (s *Server) At(host string) string {
	return "http://" + host + s.listen[strings.LastIndexByte(s.listen, ':'):]
}

// Configure replaces the configuration, as a reload does, and returns when it serves.
func (s *Server) Configure(c Config) {
	s.tb.Helper()
	s.config = c
	s.Load(c.Site)
}

// Load replaces the directives of the site, as a reload does, and returns when they serve.
func (s *Server) Load(site string) {
	s.tb.Helper()
	s.load(s.adapt(site))
}

// LoadJSON is Load for what a Caddyfile cannot say: edit changes the adapted configuration.
func (s *Server) LoadJSON(edit func(doc map[string]any)) {
	s.tb.Helper()
	var doc map[string]any
	if err := json.Unmarshal(s.adapt(s.config.Site), &doc); err != nil {
		s.tb.Fatal(err)
	}
	edit(doc)
	cfg, err := json.Marshal(doc)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.load(cfg)
}

func (s *Server) adapt(site string) []byte {
	s.tb.Helper()
	out := "discard"
	if s.config.Log != "" {
		out = "file " + s.config.Log
	}
	addresses := "http://" + s.listen
	if s.config.Host != "" {
		addresses += ", " + s.At(s.config.Host)
	}
	text := fmt.Sprintf("{\nadmin off\npersist_config off\nauto_https off\ngrace_period 5s\nlog {\noutput %s\nlevel DEBUG\n}\nsvc {\n%s\n}\n%s\n}\n%s {\n%s\n}\n",
		out, s.config.Svc, s.config.Global, addresses, site)
	cfg, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		s.tb.Fatalf("adapting the Caddyfile: %v\n%s", err, text)
	}
	return cfg
}

func (s *Server) load(cfg []byte) {
	s.tb.Helper()
	if err := caddy.Load(cfg, true); err != nil {
		s.tb.Fatalf("loading the configuration: %v", err)
	}
	s.Eventually("the server listens", func() bool {
		c, err := net.Dial("tcp", s.listen)
		if err == nil {
			err = c.Close()
		}
		return err == nil
	})
}

func (s *Server) home() settings.Home {
	s.tb.Helper()
	home, err := app.LocateHome()
	if err != nil {
		s.tb.Fatal(err)
	}
	return home
}

// Admin manages the users, through the control socket.
func (s *Server) Admin() identity.Admin {
	s.tb.Helper()
	return adminapi.NewClient(cli.NewClient(s.home()).HTTP(), "http://svc/identity")
}

// AddUser adds a user and returns its token.
func (s *Server) AddUser(name string, role policy.Role, expires time.Time) string {
	s.tb.Helper()
	_, secret, err := s.Admin().AddUser(context.Background(), identity.AddUser{Name: name, Role: role, Expires: expires})
	if err != nil {
		s.tb.Fatal(err)
	}
	return secret.Reveal()
}

// Request makes a request; header is a list of names and values.
func (s *Server) Request(method, path, body string, header ...string) *http.Request {
	s.tb.Helper()
	var b io.Reader
	if body != "" {
		b = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, s.URL+path, b)
	if err != nil {
		s.tb.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// Do sends a request with the token and returns the response and its body.
func (s *Server) Do(method, path, body string, header ...string) (*http.Response, string) {
	s.tb.Helper()
	r := s.Request(method, path, body, header...)
	if s.Token != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token)
	}
	return s.Send(r)
}

// Send sends a request as it is and returns the response and its body.
func (s *Server) Send(r *http.Request) (*http.Response, string) {
	s.tb.Helper()
	resp, err := Client.Do(r)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.tb.Fatalf("reading the response: %v, after %q", err, b)
	}
	return resp, string(b)
}

// Audit returns the rows of a query on the audit log, each as its values in one line. Events
// that are queued may take a moment.
func (s *Server) Audit(query string) []string {
	s.tb.Helper()
	log, err := app.OpenAuditReader(context.Background(), s.home())
	if err != nil {
		s.tb.Fatal(err)
	}
	_, rows, err := log.Query(context.Background(), audit.Filter{}, query, audit.Limits{})
	if err := errors.Join(err, log.Close()); err != nil {
		s.tb.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		var b strings.Builder
		for i, v := range row {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprint(&b, v)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// Eventually polls until ok holds, for things that happen in another process or goroutine
// without telling.
func (s *Server) Eventually(what string, ok func() bool) {
	s.tb.Helper()
	eventually.True(s.tb, what, ok)
}

// shortTempDir is TempDir for a data folder: the path of its sockets is limited to 108 bytes.
func shortTempDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}
