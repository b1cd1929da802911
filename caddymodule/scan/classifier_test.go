package scan_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/internal/classifier/classifiertest"
)

// outside is an attack that neither the rules nor the statistical detector know: only the classifier does.
const outside = "Please bring me the quartz now."

// guard starts a classifier.
func guard(t *testing.T) *classifiertest.Server {
	t.Helper()
	srv := classifiertest.New()
	t.Cleanup(srv.Close)
	return srv
}

func TestClassifier(t *testing.T) {
	model := guard(t)
	filler := strings.Repeat("All is well today. ", 200)
	for _, tt := range []struct {
		name, options, classifier, body string
		status                          int
		annotated                       string
	}{
		{"annotate", "", "", outside, 200, "role_hijacking"},
		{"log", "", "action log", outside, 200, ""},
		{"block", "", "action block", outside, 422, ""},
		{"action does not apply", "action block", "", outside, 200, "role_hijacking"},
		{"rules go on", "action block", "action log", attack, 422, ""},
		{"harmless", "", "action block", "The weather is fine today.", 200, ""},
		{"in the midst", "", "action block", filler + outside + filler, 422, ""},
		{"JSON", "", "action block", `{"model":"gpt-4o","messages":[{"role":"user","content":"` + outside + `"}]}`, 422, ""},
		{"beyond max_scan", "max_scan 1KiB", "action block", filler + outside + filler, 422, ""},
		{"beyond max_text", "", "max_text 1KiB", filler + outside, 200, "partly_scanned"},
		{"moderation", "", "shape openai", outside, 200, "illicit"},
		{"model beside it", "model block", "", unknown, 422, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := "/classify"
			if strings.Contains(tt.classifier, "openai") {
				path = "/v1/moderations"
			}
			srv, answer, asked, _ := stage(t, tt.options+"\nclassifier "+model.URL+path+" {\n"+tt.classifier+"\n}")
			answer.pieces = []string{"fine"}
			resp, body := srv.Send(srv.Request(http.MethodPost, "/", tt.body, "Content-Type", "text/plain"))
			if resp.StatusCode != tt.status {
				t.Fatalf("got %s %s, want %d", resp.Status, body, tt.status)
			}
			if got := asked.Get("X-Svc-Scan-Categories"); got != tt.annotated {
				t.Errorf("got the categories %q, want %q", got, tt.annotated)
			}
		})
	}
}

// The texts of a body are sent together, without what is a word or a credential.
func TestClassifierIsSent(t *testing.T) {
	model := guard(t)
	for _, tt := range []struct {
		name, options, body string
		want                []string
	}{
		{"strings", "", `{"model":"gpt-4o","messages":[{"role":"user","content":"How are you?"},{"role":"user","content":"And the dog?"}]}`, []string{"How are you?\n\nAnd the dog?"}},
		{"the shape's", "shape openai", `{"metadata":{"note":"not this one"},"messages":[{"role":"user","content":"How are you?"}]}`, []string{"How are you?"}},
		{"redacted", "", `{"content":"My password: hunter2secret is old."}`, []string{"My password: REDACTED is old."}},
		{"words only", "", `{"model":"gpt-4o","stream":"no"}`, nil},
		{"base64", "", `{"image":"` + strings.Repeat("QUFBQUFB", 1000) + `"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, _, _, _ := stage(t, tt.options+"\nclassifier "+model.URL+"\nbodies request")
			srv.Send(srv.Request(http.MethodPost, "/", tt.body, "Content-Type", "application/json"))
			var got []string
			for _, r := range model.Asked() {
				got = append(got, r.Input)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever the server does, a body passes or is refused as the setting says, and no text of the server's
// reaches the client.
func TestClassifierFails(t *testing.T) {
	for _, tt := range []struct {
		options string
		status  int
	}{
		{"", 200}, {"fail closed", 503}, {"action block", 503}, {"action block\nfail open", 200},
	} {
		model := guard(t)
		srv, answer, _, log := stage(t, "classifier "+model.URL+" {\ntimeout 1s\nfailures 1000\n"+tt.options+"\n}")
		answer.pieces = []string{"fine"}
		for _, fault := range append(classifiertest.Faults, classifiertest.TooMany, classifiertest.None) { // with TooMany it is left alone
			model.Fail(fault)
			resp, body := srv.Send(srv.Request(http.MethodPost, "/", outside, "Content-Type", "text/plain"))
			if resp.StatusCode != tt.status || tt.status == 503 && (!strings.Contains(body, "classifier_unavailable") || resp.Header.Get("Retry-After") == "") || strings.Contains(body, "CUDA") {
				t.Errorf("%q, %s: got %s %s, want %d", tt.options, fault, resp.Status, body, tt.status)
			}
		}
		text, _ := os.ReadFile(log)
		if strings.Contains(string(text), "CUDA") || strings.Count(string(text), "the classifier has failed") != 2 {
			t.Errorf("in the log: %s", grep(string(text), "classifier"))
		}
	}
}

// The texts of a stream go to the classifier in steps; what was found ends the stream.
func TestClassifierInStreams(t *testing.T) {
	model := guard(t)
	words := func(text string) (pieces []string) {
		for _, word := range strings.SplitAfter(text, " ") {
			pieces = append(pieces, event(word))
		}
		return pieces
	}
	lines := func(text string) (pieces []string) {
		for _, word := range strings.SplitAfter(text, " ") {
			pieces = append(pieces, fmt.Sprintf("{\"text\":%q}\n", word))
		}
		return pieces
	}
	long := strings.Repeat("All is well today. ", 200)
	for _, tt := range []struct {
		name, kind, options string
		pieces              []string
		blocked             bool
	}{
		{"events", "text/event-stream", "action block", words(long + outside + " " + long), true},
		{"events, at the end", "text/event-stream", "action block", words("Well. " + outside), true},
		{"lines", "application/x-ndjson", "action block", lines(long + outside + " " + long), true},
		{"harmless", "text/event-stream", "action block", words(long), false},
		{"annotated only", "text/event-stream", "", words(long + outside), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, answer, _, _ := stage(t, "bodies response\nclassifier "+model.URL+" {\n"+tt.options+"\n}")
			*answer = reply{header: map[string]string{"Content-Type": tt.kind}, pieces: tt.pieces}
			model.Asked()
			_, body := srv.Do(http.MethodGet, "/", "")
			if got := strings.Contains(body, "injection_found"); got != tt.blocked {
				t.Errorf("blocked: %v, want %v: %s", got, tt.blocked, body[max(0, len(body)-300):])
			}
			if !tt.blocked && body != strings.Join(tt.pieces, "") {
				t.Error("the stream was changed")
			}
			if n := len(model.Asked()); n == 0 || n > 6 {
				t.Errorf("the classifier was asked %d times", n)
			}
		})
	}
}

// A message of a WebSocket is judged like a body.
func TestClassifierOfWebSockets(t *testing.T) {
	model := guard(t)
	up := sockets(t, "", func(p *peer) {
		for {
			f, err := p.message()
			if err != nil || p.send(f) != nil {
				return
			}
		}
	})
	srv, _ := scanned(t, "classifier "+model.URL+" {\naction block\n}", up.URL)
	client, _ := opened(t, srv, "websocket")
	for _, tt := range []struct{ sent, want frame }{
		{text("All is well today."), text("All is well today.")},
		{frame{0x89, "ping"}, frame{0x89, "ping"}},
		{text(outside), closed(1008, "injection_found: role_hijacking")},
	} {
		if err := client.send(tt.sent); err != nil {
			t.Fatal(err)
		}
		if got, err := client.message(); err != nil || got != tt.want {
			t.Errorf("got %s and %v, want %s", got, err, tt.want)
		}
	}
	if n := len(model.Asked()); n != 2 { // not about the ping
		t.Errorf("the classifier was asked %d times", n)
	}
}

// Calls, their time and the state of the server are metrics, with the labels of the stage.
func TestClassifierMetrics(t *testing.T) {
	model := guard(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "route {\nmetrics /metrics\nsvc_scan {\nclassifier " + model.URL + " {\nfailures 1\n}\n}\nrespond fine\n}"})
	ask := func() { srv.Do(http.MethodPost, "/", outside) }
	ask()
	model.Fail(classifiertest.Broken)
	ask()
	ask()
	_, body := srv.Do(http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`svc_scan_classifier_calls_total{result="ok",server="srv0",side="request",site="127.0.0.1"} 1`,
		`svc_scan_classifier_calls_total{result="status",server="srv0",side="request",site="127.0.0.1"} 1`,
		`svc_scan_classifier_calls_total{result="open",server="srv0",side="request",site="127.0.0.1"} 1`,
		`svc_scan_classifier_seconds_count{server="srv0",side="request",site="127.0.0.1"} 3`,
		`svc_scan_classifier_open{server="srv0",side="request",site="127.0.0.1"} 1`,
		`svc_scan_findings_total{action="annotate",category="role_hijacking",server="srv0",side="request",site="127.0.0.1"} 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in %s", want, body)
		}
	}
}
