package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/svc-gateway/svc/internal/browsertest"
)

func TestBrowser(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: r.Host, HttpOnly: true})
		fmt.Fprintf(w, "<p>hello %s</p>", r.Host)
	}))
	defer srv.Close()
	at := strings.Replace(srv.URL, "127.0.0.1", "svc.test", 1) + "/"
	host := strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/")
	b := browsertest.New(t)
	b.Do(chromedp.Navigate(at))
	if got := b.Text("p"); got != "hello "+host {
		t.Errorf("got text %q", got)
	}
	if got := b.Location(); got != at {
		t.Errorf("got location %q, want %q", got, at)
	}
	if c := b.Cookie(at, "seen"); c == nil || c.Value != host || !c.HTTPOnly {
		t.Errorf("got cookie %+v", c)
	}
}
