//go:build linux

package testscript

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"
)

// request is what http, sse and stream are given.
type request struct {
	method, path string
	header       http.Header
	host         string
	body         []byte
	cert         string // file of a client certificate: send it over TLS; "none" is TLS without
}

// newRequest reads the arguments; more are the flags of one command.
func (c *call) newRequest(more func(*flag.FlagSet)) (request, error) {
	r := request{header: http.Header{}}
	f := flag.NewFlagSet("request", flag.ContinueOnError)
	f.SetOutput(&c.err)
	f.Func("H", "header line", func(line string) error {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return errors.New("a header is written Name: value")
		}
		if value = strings.TrimSpace(value); strings.EqualFold(name, "Host") {
			r.host = value
			return nil
		}
		r.header.Add(name, value)
		return nil
	})
	f.Func("u", "user:password for Basic", func(pair string) error {
		r.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
		return nil
	})
	f.StringVar(&r.cert, "cert", "", "file of a client certificate, for TLS")
	body := f.String("d", "", "body")
	if more != nil {
		more(f)
	}
	if err := f.Parse(c.args); err != nil {
		return r, err
	}
	args := f.Args()
	if len(args) != 2 && len(args) != 3 {
		return r, errors.New("want METHOD PATH [FILE]")
	}
	r.method, r.path, r.body = args[0], args[1], []byte(*body)
	if len(args) == 3 {
		var err error
		if r.body, err = os.ReadFile(c.ts.MkAbs(args[2])); err != nil {
			return r, err
		}
	}
	if len(r.body) > 0 && r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", "application/json")
	}
	if token := c.credential(); token != "" && r.header.Get("Authorization") == "" {
		r.header.Set("Authorization", "Bearer "+token)
	}
	return r, nil
}

// send sends the request to the service of the script, on a connection of its own.
func (c *call) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, "http://127.0.0.1:"+c.port+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header, req.Host = r.header.Clone(), r.host
	client := &http.Transport{DisableKeepAlives: true, DisableCompression: true, ExpectContinueTimeout: patience}
	if r.cert != "" {
		if client.TLSClientConfig, err = c.tlsConfig(r.cert); err != nil {
			return nil, err
		}
		req.URL.Scheme, req.Host = "https", "localhost"
	}
	return client.RoundTrip(req)
}

// head writes status and headers as they came.
func head(w io.Writer, resp *http.Response) {
	fmt.Fprintf(w, "%s %s\n", resp.Proto, resp.Status)
	var names []string
	for name := range resp.Header {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		for _, value := range resp.Header[name] {
			fmt.Fprintf(w, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintln(w)
}

func plainHTTP(c *call) error {
	r, err := c.newRequest(nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	head(&c.out, resp)
	if _, err := io.Copy(&c.out, resp.Body); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return errors.New(resp.Status)
	}
	return nil
}

// raw sends bytes that no client library would send. Lines of the header get their CRLF; $TOKEN
// and $PORT in it are replaced.
func raw(c *call) error {
	if len(c.args) != 1 {
		return errors.New("usage: raw FILE")
	}
	header, body, _ := strings.Cut(c.ts.ReadFile(c.args[0]), "\n\n")
	header = strings.NewReplacer("$TOKEN", c.credential(), "$PORT", c.port).Replace(header)
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+c.port, patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, strings.ReplaceAll(header, "\n", "\r\n")+"\r\n\r\n"+strings.TrimSuffix(body, "\n")); err != nil {
		return err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	_, err = io.Copy(&c.out, conn)
	return err
}

func waitHealth(c *call) error {
	return poll(func() (bool, error) {
		resp, err := c.send(context.Background(), request{method: http.MethodGet, path: "/health", header: http.Header{}})
		if err != nil {
			return false, err
		}
		return resp.StatusCode == http.StatusOK, resp.Body.Close()
	})
}
