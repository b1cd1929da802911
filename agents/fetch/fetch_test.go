package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/testcert"
)

// site is a server on loopback with TLS and a certificate for its names.
type site struct {
	*httptest.Server
	ca   *testcert.Authority
	port string
	came atomic.Int64 // requests
}

func newSite(t *testing.T, names []string, h http.HandlerFunc) *site {
	t.Helper()
	ca, err := testcert.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue(&x509.Certificate{
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{ca: ca}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.came.Add(1)
		h(w, r)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.Config.ErrorLog = discard
	s.StartTLS()
	t.Cleanup(s.Close)
	s.port = s.Listener.Addr().String()[strings.LastIndexByte(s.Listener.Addr().String(), ':')+1:]
	return s
}

// config lets the site be asked at 127.0.0.1.
func (s *site) config(t *testing.T, hosts ...string) fetch.Config {
	t.Helper()
	list, err := reach.ParseHosts(append(hosts, "127.0.0.1:"+s.port))
	if err != nil {
		t.Fatal(err)
	}
	return fetch.Config{Hosts: list, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Roots: s.ca.Pool()}
}

func packed(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

// Documents of all sorts, as they come and as they are shown.
func TestDocuments(t *testing.T) {
	const size = 4 << 10
	bomb := packed(bytes.Repeat([]byte("a"), 64<<20))
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		send := func(contentType string, body []byte) {
			h.Set("Content-Type", contentType)
			_, _ = w.Write(body)
		}
		switch r.URL.Path {
		case "/plain":
			send("text/plain; charset=utf-8", []byte("Grüße\r\n"))
		case "/request":
			_ = r.Header.Write(w)
		case "/latin":
			send("text/plain; charset=ISO-8859-1", []byte("Gr\xfc\xdfe"))
		case "/meta":
			send("text/html", []byte("<meta charset=windows-1251>\xcf\xf0\xe8"))
		case "/utf16":
			send("text/plain", []byte("\xff\xfeh\x00i\x00"))
		case "/none":
			h["Content-Type"] = nil
			_, _ = w.Write([]byte(`{"a": 1}`))
		case "/escape":
			send("text/plain", []byte("a\x1b[2Jb"))
		case "/png":
			send("text/plain", []byte("\x89PNG\r\n\x1a\n\x00\x00"))
		case "/zip":
			send("application/zip", bytes.Repeat([]byte("zipped"), 100))
		case "/bytes":
			send("application/octet-stream", []byte{1, 2, 3, 0, 200, 201})
		case "/gzip":
			h.Set("Content-Encoding", "gzip")
			send("text/plain", packed([]byte("unpacked")))
		case "/bomb":
			h.Set("Content-Encoding", "gzip")
			send("text/plain", bomb)
		case "/bombs":
			h.Set("Content-Encoding", "gzip, gzip")
			send("text/plain", packed(packed(bytes.Repeat([]byte("a"), 1<<20))))
		case "/notgzip":
			h.Set("Content-Encoding", "gzip")
			send("text/plain", []byte("plain"))
		case "/br":
			h.Set("Content-Encoding", "br")
			send("text/plain", []byte("x"))
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = w.Write(bytes.Repeat([]byte("a"), 1<<10))
			}
		case "/secret":
			send("text/plain", []byte(strings.Repeat("x", size-30)+"\npassword = hunter2hunter2hunter2hunter2\n"+strings.Repeat("y", size)))
		case "/short":
			h.Set("Content-Length", "100")
			send("text/plain", []byte("x"))
		case "/cookie":
			h.Set("Set-Cookie", "a=b")
			send("text/plain", []byte(r.Header.Get("Cookie")))
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/header":
			h.Set("X-Long", strings.Repeat("x", 100<<10))
		default:
			w.WriteHeader(http.StatusNotFound)
			send("text/plain", []byte("nothing here"))
		}
	})
	conf := s.config(t)
	conf.Size = size
	c := fetch.New(conf)
	for _, tc := range []struct {
		path, text string
		binary     bool
		cut        bool
		err        string
	}{
		{path: "/plain", text: "Grüße\n"},
		{path: "/request", text: "Accept: text/*, application/json, */*;q=0.5\nAccept-Encoding: gzip\nConnection: close\nUser-Agent: svc\n"},
		{path: "/latin", text: "Grüße"},
		{path: "/meta", text: "<meta charset=windows-1251>При"},
		{path: "/utf16", text: "hi"},
		{path: "/none", text: `{"a": 1}`},
		{path: "/escape", text: "a\uFFFD[2Jb"},
		{path: "/png", binary: true, cut: true},
		{path: "/zip", binary: true, cut: true},
		{path: "/bytes", binary: true, cut: true},
		{path: "/gzip", text: "unpacked"},
		{path: "/bomb", text: strings.Repeat("a", size), cut: true},
		{path: "/bombs", err: "packed in another way than gzip"},
		{path: "/notgzip", err: "not the gzip that it says it is"},
		{path: "/br", err: "packed in another way than gzip"},
		{path: "/endless", text: strings.Repeat("a", size), cut: true},
		{path: "/short", err: "broke off"},
		{path: "/cookie", text: ""},
		{path: "/empty", text: ""},
		{path: "/header", err: "does not answer as an HTTP server"},
		{path: "/else", text: "nothing here"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			a, err := c.Get(t.Context(), s.URL+tc.path)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want an error with %q", err, tc.err)
				}
				return
			}
			if err != nil || a.Text != tc.text || a.Binary != tc.binary || a.Truncated != tc.cut {
				t.Errorf("got %.200q (%d), binary %t, cut %t, %v", a.Text, len(a.Text), a.Binary, a.Truncated, err)
			}
		})
	}
	t.Run("a secret where the text is cut", func(t *testing.T) {
		a, err := c.Get(t.Context(), s.URL+"/secret")
		if err != nil || len(a.Text) > size || !a.Truncated || strings.Contains(a.Text, "hunt") || !strings.Contains(a.Text, "REDACTED"[:4]) {
			t.Errorf("got …%q, %v", a.Text[max(0, len(a.Text)-60):], err)
		}
	})
}

// A server that takes its time does not hold a call.
func TestSlowAnswers(t *testing.T) {
	over := make(chan struct{})
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte("slow"))
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	defer close(over)
	conf := s.config(t)
	conf.Timeout = 200 * time.Millisecond
	for _, path := range []string{"/header", "/body"} {
		a, err := fetch.New(conf).Get(t.Context(), s.URL+path)
		if !errors.Is(err, context.DeadlineExceeded) || len(a.Hops) != 1 {
			t.Errorf("%s: got %+v, %v", path, a, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetch.New(s.config(t)).Get(ctx, s.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// An answer leads to what the list allows, and no further.
func TestRedirects(t *testing.T) {
	evil := newSite(t, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("evil")) })
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("plain")) }))
	defer plain.Close()
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		switch {
		case r.URL.Path == "/end":
			_, _ = w.Write([]byte("end " + r.Header.Get("Referer")))
		case r.URL.Path == "/many":
			n := len(r.URL.Query().Get("n"))
			w.Header().Set("Location", "/many?n="+strings.Repeat("x", n+1))
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/loop":
			w.Header().Set("Location", "/loop")
			w.WriteHeader(http.StatusMovedPermanently)
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			w.WriteHeader(http.StatusFound) // without a place
		}
	})
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(s.config(t, "metadata.internal", "169.254.169.254", "http://169.254.169.254", "[::1]:"+s.port))
	for _, tc := range []struct{ name, to, text, err string }{
		{"to the same server", "/end", "end ", ""},
		{"relative", "end", "end ", ""},
		{"without a scheme", "//" + u.Host + "/end", "end ", ""},
		{"absolute", s.URL + "/end", "end ", ""},
		{"twice", "/x?to=/end", "end ", ""},
		{"to an own loop", "/loop", "", "leads back to where it came from"},
		{"to the metadata of a cloud, listed as a host only", "https://169.254.169.254/latest", "", "is not public, and not listed"},
		{"to the same over plain text", "http://169.254.169.254/latest", "", "is not public, and not listed"},
		{"to another port", evil.URL + "/", "", "not allowed with https at this port"},
		{"to plain text", plain.URL, "", "not allowed with http at this port"},
		{"to loopback by another name", "https://localhost:" + s.port + "/end", "", "not one of the hosts"},
		{"to loopback of IPv6, listed as a host only", "https://[::1]:" + s.port + "/end", "", "is not public, and not listed"},
		{"to another host", "https://evil.example/", "", "evil.example is not one of the hosts"},
		{"to a user of another host", "https://127.0.0.1@evil.example/", "", "user name or a password"},
		{"with a backslash", `https:\\evil.example`, "", "backslash"},
		{"to a file", "file:///etc/passwd", "", "https:// or http://"},
		{"to data", "data:text/plain,x", "", "https:// or http://"},
		{"to nothing that is a URL", "https://[", "", "cannot be read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := c.Get(t.Context(), s.URL+"/x?to="+url.QueryEscape(tc.to))
			if tc.err != "" {
				if !errors.Is(err, fetch.ErrNotAllowed) || !strings.Contains(err.Error(), tc.err) || a.Text != "" {
					t.Errorf("got %q, %v, want an error with %q", a.Text, err, tc.err)
				}
				return
			}
			if err != nil || a.Text != tc.text {
				t.Errorf("got %q, %v", a.Text, err)
			}
		})
	}
	if evil.came.Load() > 0 {
		t.Error("a server was asked that is not listed")
	}
	t.Run("many", func(t *testing.T) {
		before := s.came.Load()
		_, err := c.Get(t.Context(), s.URL+"/many")
		if !errors.Is(err, fetch.ErrNotAllowed) || !strings.Contains(err.Error(), "more than 5 redirects") || s.came.Load()-before != 6 {
			t.Errorf("got %v after %d requests", err, s.came.Load()-before)
		}
	})
	t.Run("to nowhere", func(t *testing.T) {
		if a, err := c.Get(t.Context(), s.URL+"/x"); err != nil || a.Status != http.StatusFound {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("what is told", func(t *testing.T) {
		a, err := c.Get(t.Context(), s.URL+"/x?to=/end#part")
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("GET %[1]s/x?to=/end\nredirected (307) to %[1]s/end\n200 OK, text/plain, 4 bytes\n", s.URL)
		if d := cmp.Diff(want, a.Describe()); d != "" {
			t.Error(d)
		}
		if len(a.Hops) != 2 || a.Hops[1].Address != u.Host || a.Hops[1].Host != u.Host {
			t.Errorf("got %+v", a.Hops)
		}
	})
}

func TestCertificates(t *testing.T) {
	s := newSite(t, []string{"a.example"}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) })
	other := newSite(t, nil, func(http.ResponseWriter, *http.Request) {})
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	names := &nameserver{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}
	for _, tc := range []struct {
		name, url, want string
		change          func(*fetch.Config)
	}{
		{"valid", "https://a.example:" + s.port, "", nil},
		{"for another name", "https://b.example:" + s.port, "is for other hosts", nil},
		{"of another authority", s.URL, "signed by nobody who is trusted here", func(c *fetch.Config) { c.Roots = other.ca.Pool() }},
		{"of nobody the system knows", s.URL, "signed by nobody who is trusted here", func(c *fetch.Config) { c.Roots = nil }},
		{"none", strings.Replace(plain.URL, "http:", "https:", 1), "does not answer as an HTTP server", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conf := s.config(t, "a.example:"+s.port, "b.example:"+s.port, strings.TrimPrefix(plain.URL, "http://"))
			conf.Resolver = names.resolver(t)
			if tc.change != nil {
				tc.change(&conf)
			}
			_, err := fetch.New(conf).Get(t.Context(), tc.url)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// A name has a public address when it is looked at and a local one when it is connected to: the address
// that is connected to counts.
func TestRebinding(t *testing.T) {
	s := newSite(t, []string{"rebind.example"}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("inside")) })
	public, local := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("127.0.0.1")
	for _, tc := range []struct {
		name    string
		answers [][]netip.Addr
		listed  bool
	}{
		{"always local", [][]netip.Addr{{local}}, false},
		{"public first", [][]netip.Addr{{netip.MustParseAddr("2001:db8::1")}, {local}}, false},
		{"both at once", [][]netip.Addr{{public, local}}, false},
		{"mapped", [][]netip.Addr{{netip.MustParseAddr("::ffff:127.0.0.1")}}, false},
		{"NAT64", [][]netip.Addr{{netip.MustParseAddr("64:ff9b::7f00:1")}}, false},
		{"unspecified", [][]netip.Addr{{netip.MustParseAddr("0.0.0.0")}}, false},
		{"listed", [][]netip.Addr{{local}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conf := s.config(t, "rebind.example:"+s.port)
			if !tc.listed {
				conf.Networks = nil
			}
			conf.Resolver = (&nameserver{answers: tc.answers}).resolver(t)
			c := fetch.New(conf)
			for range 3 {
				a, err := c.Get(t.Context(), "https://rebind.example:"+s.port)
				if tc.listed && (err != nil || a.Text != "inside") || !tc.listed && (!errors.Is(err, fetch.ErrNotAllowed) || a.Hops[0].Refused == "" || a.Hops[0].Address != "") {
					t.Errorf("got %+v, %v", a, err)
				}
			}
		})
	}
	if s.came.Load() != 3 {
		t.Errorf("the server was asked %d times", s.came.Load())
	}
	t.Run("between a request and its redirect", func(t *testing.T) {
		s := newSite(t, []string{"rebind.example"}, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/secret", http.StatusFound)
		})
		conf := s.config(t, "rebind.example:"+s.port)
		conf.Resolver = (&nameserver{answers: [][]netip.Addr{{local}, {netip.MustParseAddr("127.0.0.2")}}}).resolver(t)
		a, err := fetch.New(conf).Get(t.Context(), "https://rebind.example:"+s.port)
		if !errors.Is(err, fetch.ErrNotAllowed) || s.came.Load() != 1 || len(a.Hops) != 2 || a.Hops[1].Refused == "" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}

// The environment's proxy is not used: it would connect to whatever it likes.
func TestNoProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	defer proxy.Close()
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	list, err := reach.ParseHosts([]string{"http://proxied.example", "proxied.example"})
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(fetch.Config{Hosts: list, Resolver: (&nameserver{}).resolver(t)})
	for _, u := range []string{"http://proxied.example/", "https://proxied.example/"} {
		if _, err := c.Get(t.Context(), u); err == nil || !strings.Contains(err.Error(), "cannot be looked up") {
			t.Errorf("got %v", err)
		}
	}
}

func TestCheck(t *testing.T) {
	list, err := reach.ParseHosts([]string{"example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		hosts reach.Hosts
		url   string
		want  string
	}{
		{"listed", list, "https://example.org/", ""},
		{"not listed", list, "https://example.com/", "example.com is not one of the hosts that are allowed"},
		{"nothing is listed", nil, "https://example.org/", "fetch.hosts"},
		{"a credential", list, "https://example.org/?access_token=ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789", "holds a credential"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := fetch.New(fetch.Config{Hosts: tc.hosts}).Check(tc.url)
			if (err == nil) != (tc.want == "") || err != nil && (!errors.Is(err, fetch.ErrNotAllowed) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// nameserver answers questions for addresses in turn, with the last answer from then on.
type nameserver struct {
	answers [][]netip.Addr
	asked   atomic.Int64
}

// resolver asks it.
func (n *nameserver) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply, err := n.reply(buf[:size]); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// reply answers a question. Each pair of questions, for both kinds of addresses, is one lookup.
func (n *nameserver) reply(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) == 0 {
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil // else what has no answer is asked twice
	at := int(n.asked.Add(1)-1) / 2
	if len(n.answers) == 0 {
		m.RCode = dnsmessage.RCodeNameError
		return m.Pack()
	}
	for _, a := range n.answers[min(at, len(n.answers)-1)] {
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}
