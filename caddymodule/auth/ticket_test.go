package auth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

// A page of another origin opens a WebSocket with a ticket: once, and the server behind does not see it.
func TestTicket(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "query %q, as %s", r.URL.RawQuery, r.Header.Get("Remote-User"))
	}))
	t.Cleanup(up.Close)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nidentity_headers\n}\nreverse_proxy " + up.URL})
	resp, body := srv.Do(http.MethodPost, "/auth/ticket", "")
	var ticket struct {
		Ticket    string `json:"ticket"`
		ExpiresIn int    `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(body), &ticket); err != nil || ticket.ExpiresIn != 30 || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %s %s", resp.Status, body)
	}
	open := func(header ...string) (int, string) {
		resp, body := srv.Send(srv.Request(http.MethodGet, "/live?a=1&ticket="+ticket.Ticket, "", header...))
		return resp.StatusCode, body
	}
	socket := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Origin", "https://elsewhere.example"}
	if status, body := open(); status != http.StatusUnauthorized {
		t.Errorf("without a WebSocket: got %d %s", status, body)
	}
	if status, body := open(socket...); status != http.StatusOK || body != `query "a=1", as admin` {
		t.Errorf("got %d %s", status, body)
	}
	if status, body := open(socket...); status != http.StatusUnauthorized {
		t.Errorf("again: got %d %s", status, body)
	}
}
