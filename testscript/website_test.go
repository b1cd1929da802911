//go:build linux

package testscript

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/svc-gateway/svc/internal/testcert"
)

// website starts a web server with TLS at 127.0.0.1 and localhost, whose authority is in website.pem. WEBSITE is
// its host and port, WEBPORT the port. What it is asked for is written to website.log, with the header
// Authorization and the body.
//
//	/hello            a text with a secret in it
//	/to?<URL>         leads there
//	/endless          text without an end
//	/picture          no text
//	/items            201, and what was sent
//	/gone             no answer
func website(c *call) error {
	ca, err := testcert.NewAuthority("website")
	if err != nil {
		return err
	}
	cert, err := ca.Issue(&x509.Certificate{DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return err
	}
	if err := testcert.Write(ca.Certificate, c.ts.MkAbs("website.pem"), ""); err != nil {
		return err
	}
	asked, err := os.Create(c.ts.MkAbs("website.log"))
	if err != nil {
		return err
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(asked, "%s %s %s %q %s\n", r.Method, r.Host, r.URL, r.Header.Get("Authorization"), body)
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/hello":
			fmt.Fprintf(w, "hello, the db password is %s\n", secret)
		case "/to":
			w.Header().Set("Location", r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat("endless ", 100))
			}
		case "/items":
			w.Header().Set("Location", "/items/7")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, "made %s for %s\n", body, r.Header.Get("Authorization"))
		case "/gone":
			panic(http.ErrAbortHandler)
		case "/picture":
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n\x00\x00")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	c.cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = asked.Close()
	})
	address := server.Listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	c.ts.Setenv("WEBSITE", address)
	c.ts.Setenv("WEBPORT", port)
	return err
}
