package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/policy"
)

func TestLocalPrincipal(t *testing.T) {
	own := uint32(os.Geteuid())
	for _, tt := range []struct {
		name string
		peer *peer
		in   bool
	}{
		{"own user", &peer{uid: own}, true},
		{"root", &peer{uid: 0}, true},
		{"somebody else", &peer{uid: own + 4242}, false},
		{"unknown", &peer{err: errors.New("no credentials")}, false},
		{"not a socket of ours", nil, false},
	} {
		ctx := context.Background()
		if tt.peer != nil {
			ctx = context.WithValue(ctx, peerKey{}, *tt.peer)
		}
		p, err := localPrincipal(ctx)
		if (err == nil) != tt.in {
			t.Errorf("%s: got %+v, %v, want let in: %v", tt.name, p, err, tt.in)
		}
		if tt.in && (p.Role != policy.Admin || p.Source != policy.SourceOS) {
			t.Errorf("%s: got %+v, want an admin of source os", tt.name, p)
		}

		s := newServer(new(journal))
		r := newRoutes()
		r.handle("/", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		s.push(r)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[tt.in]; w.Code != want {
			t.Errorf("%s: got status %d, want %d", tt.name, w.Code, want)
		}
	}
}

func TestPeerUID(t *testing.T) {
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if uid, err := peerUID(conn); err != nil || int(uid) != os.Geteuid() {
		t.Errorf("got %d, %v, want %d", uid, err, os.Geteuid())
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := peerUID(a); err == nil {
		t.Error("a pipe has no credentials, and got some")
	}
}
