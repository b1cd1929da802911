package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	manyPosts    = 20
	postSize     = 4_000_000
	postPatience = 10 * time.Minute
)

// posts measures small requests with a token, one client, while nobody else asks and while large ones
// are scanned: documents of JSON that hold the sources of Go, or what /usr/share/doc says.
func (b *bench) posts(ctx context.Context) error {
	upstream, stop, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer stop()
	sv, err := b.site.caddy(ctx, "posts", stagesCaddyfile, upstream)
	if err != nil {
		return err
	}
	defer sv.stop()
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("finding the sources of Go: %w", err)
	}
	for _, content := range []struct{ name, dir string }{
		{"the sources of Go", filepath.Join(strings.TrimSpace(string(root)), "src")},
		{"/usr/share/doc", "/usr/share/doc"},
	} {
		body, err := filesOf(content.dir, postSize)
		if err != nil {
			return err
		}
		b.progress("%d posts of %s, %.1f MB each", manyPosts, content.name, float64(len(body))/1e6)
		f := postFigures{Content: content.name, Bytes: len(body)}
		l := b.load(sv, oneClient, post("/json", sv.token, requestBody), func() checker { return &exactly{want: responseBody} })
		if f.Quiet, err = l.measure(ctx); err != nil {
			return err
		}
		l.lasting = postPatience
		f.Busy, err = l.during(ctx, func(ctx context.Context) (err error) {
			began := time.Now()
			f.Passed, f.Refused, err = sendAll(ctx, "http://"+sv.addr+"/json", sv.token, body)
			f.Took = time.Since(began)
			return err
		})
		if err != nil {
			return err
		}
		b.report.Posts = append(b.report.Posts, f)
	}
	return nil
}

// sendAll sends the body many times at once and counts what passed, and what was to be sent later.
func sendAll(ctx context.Context, url, token string, body []byte) (passed, refused int, err error) {
	var ok, later atomic.Int32
	var wg sync.WaitGroup
	failed := make([]error, manyPosts)
	for i := range failed {
		wg.Go(func() {
			status, err := send(ctx, url, token, body)
			switch {
			case err != nil:
				failed[i] = err
			case status == http.StatusOK:
				ok.Add(1)
			case status == http.StatusServiceUnavailable:
				later.Add(1)
			default:
				failed[i] = fmt.Errorf("sending %d bytes: status %d", len(body), status)
			}
		})
	}
	wg.Wait()
	return int(ok.Load()), int(later.Load()), errors.Join(failed...)
}

func send(ctx context.Context, url, token string, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("sending: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("sending: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, fmt.Errorf("reading what was answered: %w", err)
	}
	return resp.StatusCode, nil
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// filesOf is a document with the texts of the files in a folder, of about the size.
func filesOf(dir string, size int) ([]byte, error) {
	type file struct {
		Path string `json:"path"`
		Text string `json:"text"`
	}
	var files []file
	total := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return nil
		}
		quoted, err := json.Marshal(string(text))
		if err != nil {
			return err
		}
		if total += len(quoted) + len(path) + len(`{"path":"","text":},`); total > size {
			return errEnough
		}
		files = append(files, file{path, string(text)})
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	body, err := json.Marshal(map[string]any{"files": files})
	if err != nil {
		return nil, fmt.Errorf("writing the document: %w", err)
	}
	return body, nil
}
