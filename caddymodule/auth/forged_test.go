package auth_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

// gateway is a server that hands requests to programs as lighttpd's CGI does: what is no letter or
// digit in the name of a header becomes an underscore, and what stands behind the body counts as
// well. It answers with the environment of the program.
func gateway(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		env := map[string][]string{}
		for _, fields := range []http.Header{r.Header, r.Trailer} {
			for name, values := range fields {
				env[variable(name)] = append(env[variable(name)], values...)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(env); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func variable(header string) string {
	return "HTTP_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(header))
}

// raw sends a request as it stands and returns the variables of the program behind.
func raw(t *testing.T, srv *caddytest.Server, request string) map[string][]string {
	t.Helper()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	request = strings.ReplaceAll(fmt.Sprintf(request, "Host: "+u.Host+"\nAuthorization: Bearer "+srv.Token), "\n", "\r\n")
	conn, resp, err := exchange(u.Host, request)
	for n := 0; n < 3 && errors.Is(err, syscall.ECONNRESET); n++ { // the configuration before this one took it, and ended
		conn, resp, err = exchange(u.Host, request)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	defer resp.Body.Close()
	var env map[string][]string
	if err := json.NewDecoder(resp.Body).Decode(&env); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return env
}

// exchange sends a request over a connection of its own, and reads the head of the answer.
func exchange(host, request string) (net.Conn, *http.Response, error) {
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, resp, nil
}

// signs are all that may stand in the name of a header and is no letter or digit (RFC 9110, 5.6.2).
const signs = "!#$%&'*+-.^_`|~"

// Whatever spelling a server takes for an identity header, no client gets it past this stage.
func TestForgedHeaders(t *testing.T) {
	up := gateway(t)
	for name, site := range map[string]string{
		"none of ours":  "svc_auth",
		"ours":          "svc_auth {\nidentity_headers\nassertion\n}",
		"names of ones": "svc_auth {\nidentity_headers {\nuser X-User\nrole X-Role\n}\n}",
		"a part":        "svc_auth\nsvc_auth {\nidentity_headers {\nuser X-User\n}\n}",
	} {
		t.Run(name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: site + "\nreverse_proxy " + up.URL})
			var fields strings.Builder
			for _, header := range []string{
				"Remote-User", "remote-role", "Remote-Groups", "REMOTE-NAME", "Remote-Email", "X-Svc-Assertion",
				"X-Svc-Role", "X-Request-Id", "X-User", "X-Forwarded-For", "X-Forwarded-Proto",
			} {
				if header != "X-User" || strings.Contains(site, "X-User") {
					fmt.Fprintf(&fields, "\n%s: forged", header)
				}
				for _, sign := range signs {
					if header == "X-User" && (sign == '-' || !strings.Contains(site, "X-User")) {
						continue
					}
					fmt.Fprintf(&fields, "\n%s: forged", strings.ReplaceAll(header, "-", string(sign)))
				}
				if header != "X-User" || strings.Contains(site, "X-User") {
					fmt.Fprintf(&fields, "\n%s: forged\n%s: forged", strings.ReplaceAll(header, "-", ""), strings.ReplaceAll(header, "-", "-~")+"-")
				}
			}
			for variable, values := range raw(t, srv, "GET / HTTP/1.1\n%s"+strings.ReplaceAll(fields.String(), "%", "%%")+"\n\n") {
				if strings.Contains(strings.Join(values, " "), "forged") {
					t.Errorf("%s is %q", variable, values)
				}
			}
		})
	}
}

// Fields behind the body arrive when the request was let in already.
func TestForgedTrailers(t *testing.T) {
	up := gateway(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nidentity_headers\nassertion\n}\nreverse_proxy " + up.URL})
	const forged = "Remote-User: forged\nRemote+Role: forged\nX-Svc-Assertion: forged\nX-Forwarded-For: forged\nX-Request-Id: forged\nCookie: forged\n"
	for name, announced := range map[string]string{
		"announced":      "Trailer: Remote-User, Remote+Role, X-Svc-Assertion, X-Checksum, X-Forwarded-For, X-Request-Id, Cookie\n",
		"another one is": "Trailer: X-Checksum\n",
		"unannounced":    "",
	} {
		t.Run(name, func(t *testing.T) {
			env := raw(t, srv, "POST / HTTP/1.1\n%s\nTransfer-Encoding: chunked\n"+announced+"\n2\nhi\n0\n"+forged+"X-Checksum: right\n\n")
			for variable, values := range env {
				if strings.Contains(strings.Join(values, " "), "forged") {
					t.Errorf("%s is %q", variable, values)
				}
			}
			if announced != "" && strings.Join(env["HTTP_X_CHECKSUM"], "") != "right" {
				t.Errorf("the field that is nobody's business: got %q", env["HTTP_X_CHECKSUM"])
			}
			if got := strings.Join(env["HTTP_REMOTE_USER"], " "); got != "admin" {
				t.Errorf("who asks: got %q, want admin", got)
			}
		})
	}
}

// The attack: an upstream with HTTP/2 answers before it has the request, so that the proxy closes the
// body while it still reads it, and the fields behind it arrive in either. Anybody may do that on
// /health, and two goroutines that change one map would end the process.
func TestTrailersOfAnAnsweredRequest(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	up := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		asked <- struct{}{}
	})}
	up.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = up.Serve(ln) }() // it ends with Close
	t.Cleanup(func() { _ = up.Close() })
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nidentity_headers\n}\nreverse_proxy h2c://" + ln.Addr().String()})
	host := strings.TrimPrefix(srv.URL, "http://")
	var fields strings.Builder
	for i := range 280 {
		fmt.Fprintf(&fields, "X-Svc-%d:1\r\n", i)
	}
	for range 500 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /health HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n", host)
		<-asked
		fmt.Fprintf(conn, "0\r\n%s\r\n", fields.String())
		answer := make([]byte, len("HTTP/1.1 404"))
		if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 404" {
			t.Fatalf("got %q, %v", answer, err)
		}
		conn.Close()
	}
}

// Connection lists headers for a proxy to remove. None that this server sets may vanish.
func TestConnectionRemovesNoneOfOurs(t *testing.T) {
	up := gateway(t)
	srv := caddytest.Start(t, caddytest.Config{
		Site: "svc_auth {\nidentity_headers\nassertion X-Proof\n}\nrequest_header X-Tenant one\nreverse_proxy " + up.URL,
	})
	env := raw(t, srv, "GET / HTTP/1.1\n%s\nConnection: X-Request-Id, x-request-id, Remote-User, Remote-Role, X-Proof\n"+
		"Connection: X-Tenant, X-Forwarded-For, X-Forwarded-Proto, close\n\n")
	for _, name := range []string{"X-Request-Id", "Remote-User", "Remote-Role", "X-Proof", "X-Tenant", "X-Forwarded-For", "X-Forwarded-Proto"} {
		if len(env[variable(name)]) != 1 {
			t.Errorf("%s is %q", name, env[variable(name)])
		}
	}
}
