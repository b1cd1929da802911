package post_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents/post"
)

// A host that takes a message and does not answer delays those of no other host, and has room for its own number of
// messages alone. Those for one host keep their order.
func TestASlowHostDelaysNoOther(t *testing.T) {
	held, release := make(chan string, 1), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case held <- r.URL.Path:
		default:
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(release)
	got := make(chan string, 100)
	quick := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	defer quick.Close()
	core, logs := observer.New(zapcore.WarnLevel)
	s := post.New(post.Config{Name: "the test", Secret: "s", Check: func(netip.Addr) error { return nil }, Log: zap.New(core)})
	defer s.Close()
	s.Send(post.Message{URL: slow.URL + "/first", Body: 0})
	<-held
	for i := range post.QueueLength + 10 {
		s.Send(post.Message{URL: slow.URL, Type: "slow", Body: i})
	}
	if n := logs.FilterMessage("the test is behind, a message is dropped").Len(); n != 10 {
		t.Errorf("%d messages were dropped, want 10", n)
	}
	var list, want []string
	for i := range 50 {
		s.Send(post.Message{URL: quick.URL, Body: i})
		want = append(want, fmt.Sprint(i))
	}
	for range 50 {
		list = append(list, <-got)
	}
	if !slices.Equal(list, want) {
		t.Errorf("got %v, want %v", list, want)
	}
}

// How many hosts are sent to at a time is bounded, so that names of hosts are no way to have many goroutines.
func TestManyHosts(t *testing.T) {
	release := make(chan struct{})
	core, logs := observer.New(zapcore.WarnLevel)
	s := post.New(post.Config{Name: "the test", Secret: "s", Log: zap.New(core), Check: func(netip.Addr) error {
		<-release
		return fmt.Errorf("not reached")
	}})
	for i := range post.Hosts + 5 {
		s.Send(post.Message{URL: fmt.Sprintf("http://127.0.0.1:%d/", 1+i), Body: i})
	}
	if n := logs.FilterMessage("the test is behind, a message is dropped").Len(); n != 5 {
		t.Errorf("%d messages were dropped, want 5", n)
	}
	close(release)
	s.Close()
	s.Send(post.Message{URL: "http://127.0.0.1:1/"}) // to nobody
}

// What is queued takes memory for all of it: the end of a run has all that was said in its thread.
func TestLargeMessages(t *testing.T) {
	release := make(chan struct{})
	core, logs := observer.New(zapcore.WarnLevel)
	s := post.New(post.Config{Name: "the test", Secret: "s", Log: zap.New(core), Check: func(netip.Addr) error {
		<-release
		return fmt.Errorf("not reached")
	}})
	body := strings.Repeat("x", post.Bytes/4)
	for i := range 6 {
		s.Send(post.Message{URL: fmt.Sprintf("http://127.0.0.1:%d/", 1+i%2), Body: body})
	}
	if n := logs.FilterMessage("the test is behind, a message is dropped").Len(); n != 3 {
		t.Errorf("%d messages were dropped, want 3", n)
	}
	close(release)
	s.Close()
}
