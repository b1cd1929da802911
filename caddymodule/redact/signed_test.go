package redact_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// thinking are answers with thinking that its provider signs: a document, in two orders of its
// members, and a stream.
var thinking = []struct{ name, contentType, body string }{
	{
		"a document", "application/json",
		`{"content":[{"type":"thinking","thinking":"The password is Hunter2!x.","signature":"EqQBCkYI/AKIAQ3EGRIL2VN7UTXJ5+x="},{"type":"redacted_thinking","data":"Em/AKIAQ3EGRIL2VN7UTXJ5+x"},{"type":"text","text":"password: Zebra7!q"}]}`,
	},
	{
		"a document in the order of letters", "application/json",
		`{"content":[{"signature":"EqQB/AKIAQ3EGRIL2VN7UTXJ5+x=","thinking":"The password is Hunter2!x.","type":"thinking"},{"text":"password: Zebra7!q","type":"text"}]}`,
	},
	{"a stream", eventStream, strings.Join([]string{
		`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"The password is Hun"}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"ter2!x."}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB/AKIAQ3EGRIL2VN7UTXJ5+x="}}`,
		`event: content_block_stop` + "\n" + `data: {"type":"content_block_stop","index":0}`,
		`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Em/AKIAQ3EGRIL2VN7UTXJ5+x"}}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"password: Zebra7!q"}}`,
		`event: message_stop` + "\n" + `data: {"type":"message_stop"}`, "",
	}, "\n\n")},
}

// TestSignedThinking holds that what is signed is left whole, and what is beside it is not.
func TestSignedThinking(t *testing.T) {
	var contentType, body string
	answer := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	}
	for _, tt := range thinking {
		t.Run(tt.name, func(t *testing.T) {
			contentType, body = tt.contentType, tt.body
			want := strings.ReplaceAll(tt.body, "Zebra7!q", "REDACTED")
			if _, got := serve(t, "", answer).Do(http.MethodGet, "/", ""); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			if _, got := serve(t, "signed_thinking redact", answer).Do(http.MethodGet, "/", ""); strings.Contains(got, "Hun") || strings.Contains(got, "ter2!x") || strings.Contains(got, "AKIA") {
				t.Errorf("signed_thinking redact: got %s", got)
			}
		})
	}
}

// Thinking that nobody signs is text.
func TestUnsignedThinking(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"message":{"role":"assistant","thinking":"The password is Hunter2!x.","content":""}}`)
	})
	if _, got := srv.Do(http.MethodGet, "/", ""); strings.Contains(got, "Hunter2") {
		t.Errorf("got %s", got)
	}
}

// TestLinesAsTheyCome holds that lines are flushed one by one, whatever their type says.
func TestLinesAsTheyCome(t *testing.T) {
	gate := make(chan struct{})
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{\"response\":\"Hello\"}\n")
		_ = http.NewResponseController(w).Flush()
		<-gate
		io.WriteString(w, "{\"response\":\" there\"}\n")
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len("{\"response\":\"Hello\"}\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "{\"response\":\"Hello\"}\n" {
		t.Errorf("got %q, %v", first, err)
	}
	close(gate)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "{\"response\":\" there\"}\n" {
		t.Errorf("got %q, %v", rest, err)
	}
}
