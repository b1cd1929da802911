package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/browsertest"
)

func TestBrowser(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: r.Host, HttpOnly: true})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<form><input id=q name=q></form><p>hello %s</p><i>%s</i>", r.Host, r.FormValue("q"))
	}))
	defer srv.Close()
	at := strings.Replace(srv.URL, "127.0.0.1", "svc.test", 1) + "/"
	host := strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/")
	b := browsertest.New(t)
	b.Open(at)
	if got := b.Text("p"); got != "hello "+host {
		t.Errorf("got text %q", got)
	}
	if got := b.Location(); got != at {
		t.Errorf("got location %q, want %q", got, at)
	}
	b.Type("#q", "you")
	b.Submit("#q")
	b.Wait("i:not(:empty)")
	if got := b.Eval("document.querySelector('i').innerText"); got != "you" {
		t.Errorf("after the form was sent: got text %q", got)
	}
	if c := b.Cookie("svc.test", "seen"); c == nil || c.Value != host || !c.HTTPOnly {
		t.Errorf("got cookie %+v", c)
	}
}
