// Package post sends signed messages to servers that somebody has named.
//
// Make a [Sender] with [New], give it messages with [Sender.Send], and [Sender.Close] it when nobody
// uses it any more. Each message is a POST of JSON with the signature of Standard Webhooks
// (https://www.standardwebhooks.com):
//
//	webhook-id: msg_…                  the same in each attempt
//	webhook-timestamp: 1767225600
//	webhook-signature: v1,<base64 of HMAC-SHA256 of "id.timestamp.body">
//
// # Guarantees
//
// The sender never makes its user wait: messages are queued by host, and dropped with a warning when the queue
// of their host is full, there are queues for too many hosts, or all of them are too large. A host that is
// slow delays no message for another one. A message is sent a few times until an answer of 2xx comes.
// Redirects are not followed and no proxy is used. An address is looked at after it was resolved, when the
// connection is made.
//
// # Concurrency
//
// A Sender is safe for concurrent use. One goroutine sends to each host that there are messages for; messages
// for a host keep their order.
package post

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/reach"
)

// What a sender does at most.
const (
	QueueLength = 256       // messages for one host
	Hosts       = 64        // for which messages are queued at a time
	Bytes       = 128 << 20 // of all messages that are queued or under way
	Attempts    = 5
)

const (
	firstPause = time.Second // before the second attempt; doubled before each further one
	patience   = 10 * time.Second
	maxAnswer  = 64 << 10 // of the server's answer that is read, so that the connection can be used again
)

// Config says how messages are sent. Name, Secret, Check and Log are required.
type Config struct {
	Name   string // what sends, for warnings: "the webhook of approvals"
	Secret string // signs each message
	Check  func(netip.Addr) error
	Log    *zap.Logger
	Pause  time.Duration // before the second attempt; default one second
}

// Message is what a server is sent.
type Message struct {
	URL   string
	Type  string // for warnings
	About string // id of what it is about, for warnings
	Body  any    // sent as JSON
}

// Sender sends messages. Make it with [New].
type Sender struct {
	c      Config
	client *http.Client
	base   context.Context
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	lanes  map[string][]queued // by host; one that is there has a goroutine
	held   int                 // bytes of their messages
	closed bool
}

// New returns a sender that is ready.
func New(c Config) *Sender {
	if c.Pause <= 0 {
		c.Pause = firstPause
	}
	s := &Sender{c: c, client: newClient(c.Check), lanes: map[string][]queued{}}
	s.base, s.stop = context.WithCancel(context.Background())
	return s
}

// newClient returns a client that connects to allowed addresses only.
func newClient(check func(netip.Addr) error) *http.Client {
	d := net.Dialer{Timeout: patience, ControlContext: reach.Control(check)}
	return &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: patience, MaxIdleConns: Hosts, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Send queues a message.
func (s *Sender) Send(m Message) {
	body, err := json.Marshal(m.Body)
	if err != nil {
		s.c.Log.Error("encoding a message failed, it is dropped", zap.String("type", m.Type), zap.String("about", m.About), zap.Error(err))
		return
	}
	m.Body = nil // it may be large
	if !s.queue(queued{"msg_" + rand.Text(), body, m}) {
		s.c.Log.Warn(s.c.Name+" is behind, a message is dropped", zap.String("type", m.Type), zap.String("about", m.About))
	}
}

// Close ends the sending. What is queued is dropped.
func (s *Sender) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.done.Wait()
	s.client.CloseIdleConnections()
}

// insist sends a message until the server takes it, or will never do so.
func (s *Sender) insist(m queued) error {
	for n, pause := 1, s.c.Pause; ; n, pause = n+1, 2*pause {
		again, err := s.post(m)
		if err == nil || !again || n == Attempts {
			return err
		}
		select {
		case <-time.After(pause):
		case <-s.base.Done():
			return s.base.Err()
		}
	}
}

// post sends a message once. again says whether another attempt may do better.
func (s *Sender) post(m queued) (again bool, err error) {
	r, err := http.NewRequestWithContext(s.base, http.MethodPost, m.URL, bytes.NewReader(m.body))
	if err != nil {
		return false, errors.New("making the request: the address cannot be used")
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "svc")
	r.Header.Set("webhook-id", m.id)
	r.Header.Set("webhook-timestamp", stamp)
	r.Header.Set("webhook-signature", "v1,"+Sign(s.c.Secret, m.id, stamp, m.body))
	resp, err := s.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may have a key in it
		}
		return !errors.Is(err, reach.ErrRefused), fmt.Errorf("sending: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection is used again
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	again = resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout
	return again, fmt.Errorf("the server answers %d", resp.StatusCode)
}

// Sign is the signature of a message: base64 of the HMAC-SHA256 of "id.timestamp.body".
func Sign(secret, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
