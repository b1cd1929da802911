package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
)

// A program reaches the outside over the proxy only, which tells of each destination.
func TestEgress(t *testing.T) {
	sandboxtest.EveryUser(t, func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL, body, r.Header.Get("Proxy-Connection"))
		}))
		defer server.Close()
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var told []sandbox.Egress
		c := sandboxtest.Config(t, "svc-sandbox")
		c.Network = sandbox.ProxyNetwork
		tell := func(e sandbox.Egress) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, e)
		}
		box := sandboxtest.Open(t, c, "full")
		box.SetReach(func(a netip.Addr) error { // the server is on this host, and stands for a public one
			if a == netip.MustParseAddr("127.0.0.1") {
				return nil
			}
			return errors.New("not the server")
		})
		for _, tc := range []struct {
			name, script, want string
			told               []sandbox.Egress
		}{
			{"plain", `curl -s $U/a?b=c -d body`, "POST /a?b=c body ", []sandbox.Egress{{Method: "POST", Host: u.Host, Address: u.Host}}},
			{"tunnel", `curl -s --proxytunnel $U/x`, "GET /x  ", []sandbox.Egress{{Method: "CONNECT", Host: u.Host, Address: u.Host}}},
			{"refused", `curl -s --max-time 5 http://127.0.0.2:1/`, "127.0.0.2:1 cannot be reached from the sandbox: its address is not public\n", []sandbox.Egress{{Method: "GET", Host: "127.0.0.2:1", Refused: "its address is not public"}}},
			{"refused tunnel", `curl -s -o /dev/null -w '%{http_connect}' --proxytunnel http://127.0.0.2:1/`, "403", []sandbox.Egress{{Method: "CONNECT", Host: "127.0.0.2:1", Refused: "its address is not public"}}},
			{"a name", `curl -s -o /dev/null -w '%{http_code}' http://localhost:1/`, "502", []sandbox.Egress{{Method: "GET", Host: "localhost:1"}}},
			{"not a proxy request", `curl -s --noproxy '*' http://127.0.0.1:3128/`, "this is a proxy: ask for an http URL, or use CONNECT\n", nil},
			{"past the proxy", `curl -s --max-time 5 --noproxy '*' $U || echo none`, "none\n", nil},
			{"an own server", `python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1", 8000))' 2>/dev/null || echo none`, "none\n", nil},
		} {
			t.Run(tc.name, func(t *testing.T) {
				told = nil
				r := sh(t, box, sandbox.Spec{Env: []string{"U=" + server.URL}, OnEgress: tell}, tc.script)
				if r.Stdout != tc.want {
					t.Errorf("got %+v, want %q", r, tc.want)
				}
				if d := cmp.Diff(tc.told, told); d != "" {
					t.Errorf("told (-want +got):\n%s", d)
				}
			})
		}
		t.Run("no network", func(t *testing.T) {
			r := sh(t, box, sandbox.Spec{Network: sandbox.NoNetwork, Env: []string{"U=" + server.URL}}, `env | grep -ci proxy; curl -s --max-time 5 $U || echo none`)
			if strings.TrimSpace(r.Stdout) != "0\nnone" {
				t.Errorf("got %+v", r)
			}
		})
	})
}
