package interop_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/internal/tcpport"
)

// startNginx runs nginx on a folder, which clients may put files into.
func startNginx(t *testing.T, files string) (url string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // not in everybody's PATH
	}
	dir, port := t.TempDir(), tcpport.ForTest(t)
	config := fmt.Sprintf(`
daemon off;
pid %[1]s/pid;
error_log stderr;
events {}
http {
	access_log off;
	types { text/html html; text/plain txt; application/json json; video/mp4 mp4; application/gzip gz; }
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	client_max_body_size 0;
	gzip on;
	gzip_types *;
	gzip_min_length 10;
	server {
		listen %[2]s;
		root %[3]s;
		dav_methods PUT;
	}
}`, dir, port.Addr(), files)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	port.Close()
	cmd := exec.Command(program, "-p", dir, "-c", path)
	if os.Getuid() == 0 {
		cmd.Args = append(cmd.Args, "-g", "user root;") // whose the folders of tests are
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	url = "http://" + port.Addr()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(url)
		if err == nil {
			_ = resp.Body.Close()
			return url
		}
		if time.Now().After(deadline) {
			t.Fatalf("nginx does not answer: %v: %s", err, said.String())
		}
	}
}

func TestNginx(t *testing.T) {
	files := t.TempDir()
	film := make([]byte, 3<<20)
	_, _ = rand.Read(film)
	page := "<!doctype html>\n" + strings.Repeat("<p>Join our community today.</p>\n", 2000)
	for name, content := range map[string][]byte{"film.mp4": film, "page.html": []byte(page), "secret.txt": []byte("password: hunter2tiger\n")} {
		if err := os.WriteFile(filepath.Join(files, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	direct := startNginx(t, files)
	srv := behind(t, direct)

	get := func(t *testing.T, path string, header ...string) (*http.Response, []byte) {
		t.Helper()
		resp, body := srv.Do(http.MethodGet, path, "", header...)
		return resp, []byte(body)
	}
	t.Run("page", func(t *testing.T) {
		resp, body := get(t, "/page.html")
		if string(body) != page {
			t.Errorf("got %s, %d bytes, want the %d of the page", resp.Status, len(body), len(page))
		}
		tag, changed := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
		for _, header := range [][]string{{"If-None-Match", tag}, {"If-Modified-Since", changed}} {
			if resp, _ := get(t, "/page.html", header...); resp.StatusCode != http.StatusNotModified {
				t.Errorf("%v: got %s, want 304", header, resp.Status)
			}
		}
	})
	t.Run("compressed for the client", func(t *testing.T) {
		resp, body := get(t, "/page.html", "Accept-Encoding", "gzip")
		if len(body) != len(page) || resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("got %d bytes, %q", len(body), resp.Header.Get("Content-Encoding"))
		}
	})
	t.Run("secret", func(t *testing.T) {
		if _, body := get(t, "/secret.txt"); string(body) != "password: REDACTED\n" {
			t.Errorf("got %q", body)
		}
		if resp, body := get(t, "/secret.txt", "Range", "bytes=10-"); resp.StatusCode != 200 || string(body) != "password: REDACTED\n" {
			t.Errorf("a part: got %s %q", resp.Status, body)
		}
	})
	t.Run("seeking", func(t *testing.T) {
		resp, body := get(t, "/film.mp4")
		if !bytes.Equal(body, film) || resp.Header.Get("Accept-Ranges") != "bytes" {
			t.Fatalf("got %s, %d bytes, Accept-Ranges %q", resp.Status, len(body), resp.Header.Get("Accept-Ranges"))
		}
		tag := resp.Header.Get("ETag")
		resp, body = get(t, "/film.mp4", "Range", "bytes=1000000-1000999", "If-Range", tag)
		if resp.StatusCode != http.StatusPartialContent || !bytes.Equal(body, film[1000000:1001000]) ||
			resp.Header.Get("Content-Range") != fmt.Sprintf("bytes 1000000-1000999/%d", len(film)) {
			t.Errorf("got %s, %d bytes, %q", resp.Status, len(body), resp.Header.Get("Content-Range"))
		}
		if resp, body = get(t, "/film.mp4", "Range", "bytes=0-9", "If-Range", `"another"`); resp.StatusCode != 200 || len(body) != len(film) {
			t.Errorf("of another film: got %s, %d bytes", resp.Status, len(body))
		}
	})
	t.Run("resuming", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "film")
		if err := os.WriteFile(path, film[:1<<20], 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("curl", "-sS", "--fail", "-C", "-", "-H", "Authorization: Bearer "+srv.Token, "-o", path, srv.URL+"/film.mp4").CombinedOutput()
		if err != nil {
			t.Fatalf("curl: %v: %s", err, out)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, film) {
			t.Errorf("got %d bytes, %v; want the film", len(got), err)
		}
	})
	t.Run("a large upload and download", func(t *testing.T) {
		const size = 200 << 20
		sum := sha256.New()
		r := srv.Request(http.MethodPut, "/up.mp4", "", "Authorization", "Bearer "+srv.Token, "Content-Type", "video/mp4")
		r.Body = io.NopCloser(io.TeeReader(io.LimitReader(rand.Reader, size), sum))
		r.ContentLength = size
		resp, body := srv.Send(r)
		if resp.StatusCode != http.StatusCreated {
			t.Fatalf("got %s %s", resp.Status, body)
		}
		r = srv.Request(http.MethodGet, "/up.mp4", "", "Authorization", "Bearer "+srv.Token)
		resp, err := caddytest.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got := sha256.New()
		if n, err := io.Copy(got, resp.Body); err != nil || n != size || !bytes.Equal(got.Sum(nil), sum.Sum(nil)) {
			t.Errorf("got %d bytes, %v; want what was sent", n, err)
		}
	})
}
