package classifier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/internal/classifier/classifiertest"
	"github.com/svc-gateway/svc/internal/testcert"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/redact"
)

const (
	harmless = "The weather is fine today."
	attack   = "Please bring me the quartz now."
	doubtful = "Please bring me the feldspar now."
)

func fake(t *testing.T) *classifiertest.Server {
	t.Helper()
	srv := classifiertest.New()
	t.Cleanup(srv.Close)
	return srv
}

func open(t *testing.T, c Config) *Classifier {
	t.Helper()
	cl, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func brief(found []scanner.Finding) (lines []string) {
	for _, f := range found {
		lines = append(lines, fmt.Sprintf("%s %s %s %g", f.Category, f.Rule, f.Confidence, f.Score))
	}
	return lines
}

func TestClassify(t *testing.T) {
	srv := fake(t)
	for _, tt := range []struct {
		name, path, text string
		config           Config
		want             []string
	}{
		{"harmless", "/", harmless, Config{}, nil},
		{"attack", "/", attack, Config{}, []string{"role_hijacking classifier high 0.9"}},
		{"below the threshold", "/", attack, Config{Threshold: 0.95}, nil},
		{"at the threshold", "/", attack, Config{Threshold: 0.9}, []string{"role_hijacking classifier high 0.9"}},
		{"moderation, harmless", "/v1/moderations", harmless, Config{Shape: OpenAI}, nil},
		{"moderation, attack", "/v1/moderations", attack, Config{Shape: OpenAI}, []string{"illicit classifier high 0.9"}},
		{"moderation, flagged below the threshold", "/v1/moderations", doubtful, Config{Shape: OpenAI}, []string{"illicit classifier low 0.3"}},
		{"in a later piece", "/", strings.Repeat(harmless+" ", 100) + attack, Config{Piece: 1000}, []string{"role_hijacking classifier high 0.9"}},
		{"where pieces meet", "/", strings.Repeat("x", 990) + " " + attack, Config{Piece: 1000}, []string{"role_hijacking classifier high 0.9"}},
		{"beyond what is sent", "/", strings.Repeat(harmless+" ", 100) + attack, Config{MaxText: 1000}, []string{"partly_scanned classifier high 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.URL = srv.URL + tt.path
			found, err := open(t, tt.config).Classify(t.Context(), tt.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, brief(found)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	srv := fake(t)
	secrets := redact.NewSecrets()
	if err := secrets.Register("correct horse battery"); err != nil {
		t.Fatal(err)
	}
	text := "password: hunter2secret, and correct horse battery"
	for _, tt := range []struct {
		name   string
		config Config
		want   classifiertest.Request
	}{
		{"redacted", Config{Secrets: secrets}, classifiertest.Request{Path: "/", Input: "password: REDACTED, and REDACTED"}},
		{"unchanged", Config{Secrets: secrets, Unchanged: true}, classifiertest.Request{Path: "/", Input: text}},
		{"key and model", Config{Key: "k-1", Model: "guard-3", Unchanged: true}, classifiertest.Request{Path: "/", Authorization: "Bearer k-1", Model: "guard-3", Input: text}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.URL = srv.URL
			c := open(t, tt.config)
			if _, err := c.Classify(t.Context(), text, nil); err != nil {
				t.Fatal(err)
			}
			s := c.NewStream(func() {}, nil)
			for _, piece := range strings.SplitAfter(text, " ") {
				if _, err := s.Write(t.Context(), piece); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]classifiertest.Request{tt.want, tt.want}, srv.Asked()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Half of a credential, where a text is cut, is not sent.
func TestCutCredential(t *testing.T) {
	srv := fake(t)
	c := open(t, Config{URL: srv.URL, MaxText: 1000})
	token := "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	if _, err := c.Classify(t.Context(), strings.Repeat("a b ", 245)+token+strings.Repeat(" c", 3000), nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range srv.Asked() {
		if strings.Contains(r.Input, token[:8]) {
			t.Errorf("sent %q", r.Input[len(r.Input)-60:])
		}
	}
}

func TestFaults(t *testing.T) {
	for _, shape := range []struct{ name, path string }{{Plain, "/"}, {OpenAI, "/v1/moderations"}} {
		for _, fault := range classifiertest.Faults {
			t.Run(shape.name+": "+string(fault), func(t *testing.T) {
				srv := fake(t)
				core, logged := observer.New(zapcore.DebugLevel)
				c := open(t, Config{URL: srv.URL + shape.path, Shape: shape.name, Key: "k-1", Timeout: 10 * time.Second, Log: zap.New(core)})
				if fault == classifiertest.Slow {
					c.c.Timeout = 50 * time.Millisecond
				}
				srv.Fail(fault)
				var results []string
				found, err := c.Classify(t.Context(), attack, func(result string, _ time.Duration, _ bool) { results = append(results, result) })
				want := map[classifiertest.Fault]string{
					classifiertest.Slow: ResultTimeout, classifiertest.Broken: ResultStatus, classifiertest.TooMany: ResultStatus, classifiertest.Redirect: ResultStatus,
					classifiertest.Closes: ResultFailed, classifiertest.Resets: ResultFailed,
				}[fault]
				if want == "" {
					want = ResultAnswer
				}
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Result != want || len(found) > 0 {
					t.Fatalf("got %v and %v, want %s", found, err, want)
				}
				if diff := cmp.Diff([]string{want}, results); diff != "" {
					t.Error(diff)
				}
				if asked := srv.Asked(); len(asked) != 1 && fault != classifiertest.Resets {
					t.Errorf("asked %d times: %v", len(asked), asked)
				}
				told := fmt.Sprint(err, logged.All())
				for _, secret := range []string{srv.URL, "127.0.0.1", "k-1", "quartz", "CUDA", "elsewhere"} {
					if named := secret == "127.0.0.1" && want == ResultFailed; strings.Contains(told, secret) && !named {
						t.Errorf("%q tells of %q", told, secret)
					}
				}
			})
		}
	}
}

// A server with a certificate of an authority that is not known is not sent anything; with the file it is.
func TestForeignCertificate(t *testing.T) {
	srv := classifiertest.Unstarted()
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	t.Cleanup(srv.Close)
	_, err := open(t, Config{URL: srv.URL}).Classify(t.Context(), attack, nil)
	if e, ok := errors.AsType[*Error](err); !ok || e.Result != ResultFailed || len(srv.Asked()) > 0 {
		t.Errorf("got %v", err)
	}

	file := filepath.Join(t.TempDir(), "ca.pem")
	pem, _, err := testcert.Encode(srv.TLS.Certificates[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := open(t, Config{URL: srv.URL, CAFile: file}).Classify(t.Context(), attack, nil); err != nil || len(found) != 1 {
		t.Errorf("with the authority: got %v, %v", found, err)
	}
}

func TestLinkLocalIsNotAsked(t *testing.T) {
	c := open(t, Config{URL: "http://169.254.169.254/latest", Timeout: 5 * time.Second})
	if _, err := c.Classify(t.Context(), attack, nil); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("got %v", err)
	}
}

func TestBreaker(t *testing.T) {
	srv := fake(t)
	core, logged := observer.New(zapcore.DebugLevel)
	c := open(t, Config{URL: srv.URL, Failures: 3, Pause: time.Hour, Log: zap.New(core)})
	srv.Fail(classifiertest.Broken)
	ask := func() string {
		_, err := c.Classify(context.Background(), attack, nil)
		if e, ok := errors.AsType[*Error](err); ok {
			return e.Result
		}
		return ResultOK
	}
	var got []string
	for range 5 {
		got = append(got, ask())
	}
	if diff := cmp.Diff([]string{ResultStatus, ResultStatus, ResultStatus, ResultOpen, ResultOpen}, got); diff != "" {
		t.Error(diff)
	}
	if n := len(srv.Asked()); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	passed := func() { c.breaker.until = time.Now() } // the pause has
	passed()
	if got := []string{ask(), ask()}; got[0] != ResultStatus || got[1] != ResultOpen {
		t.Errorf("a trial that fails: got %v", got)
	}
	passed()
	srv.Fail(classifiertest.None)
	if got := []string{ask(), ask()}; got[0] != ResultOK || got[1] != ResultOK {
		t.Errorf("a trial that works: got %v", got)
	}
	var messages []string
	for _, e := range logged.All() {
		messages = append(messages, e.Message)
	}
	want := []string{"the classifier has failed", "the classifier has failed and is left alone for a while", "the classifier answers again"}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Error(diff)
	}
}

// Between the failures that open it and a trial that works, one call at a time is let through.
func TestBreakerTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker{after: 2, pause: time.Minute}
		enter := func(want bool) (trial bool) {
			t.Helper()
			trial, ok := b.enter(time.Now())
			if ok != want {
				t.Errorf("after %s: may be asked: %v, want %v", time.Now(), ok, want)
			}
			return trial
		}
		enter(true)
		enter(true)
		late := enter(true)
		b.done(time.Now(), false, failed, 0)
		b.done(time.Now(), false, failed, 0)
		enter(false)
		time.Sleep(time.Minute)
		trial := enter(true)
		enter(false)
		b.done(time.Now(), late, failed, 0) // which began before
		enter(false)
		b.done(time.Now(), trial, untold, 0)
		trial = enter(true)
		b.done(time.Now(), trial, worked, 0)
		enter(true)
		enter(true)
		b.done(time.Now(), false, failed, time.Hour)
		enter(false)
		time.Sleep(maxPause)
		enter(true)
	})
}

// A caller that goes away says nothing about the server.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // the server sees only then that a caller leaves
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	c := open(t, Config{URL: srv.URL, Failures: 1, Timeout: time.Minute})
	_, err := c.Classify(ctx, attack, nil)
	if e, ok := errors.AsType[*Error](err); !ok || e.Result != ResultCanceled || c.breaker.open() {
		t.Errorf("got %v, open: %v", err, c.breaker.open())
	}
}

func TestPlaces(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		runtime.Gosched()
		mu.Lock()
		now--
		mu.Unlock()
		w.Write([]byte(`{"score": 0}`))
	}))
	t.Cleanup(srv.Close)
	c := open(t, Config{URL: srv.URL, Calls: 2, Timeout: time.Minute})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.Classify(context.Background(), harmless, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most > 2 {
		t.Errorf("%d calls at the same time, want at most 2", most)
	}
	c.places <- struct{}{}
	c.places <- struct{}{}
	c.c.Timeout = time.Millisecond
	_, err := c.Classify(context.Background(), harmless, nil)
	if e, ok := errors.AsType[*Error](err); !ok || e.Result != ResultBusy {
		t.Errorf("without a place: got %v", err)
	}
}
