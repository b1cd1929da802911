package webhook

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
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/approval"
)

const (
	queueLength = 256
	attempts    = 5
	firstPause  = time.Second // before the second attempt; doubled before each further one
	patience    = 10 * time.Second
	maxAnswer   = 64 << 10 // of the server's answer that is read, so that the connection can be used again
)

// Config says where messages go. URL and Secret are required.
type Config struct {
	URL     string
	Secret  string // signs each message
	Private bool   // loopback and private addresses are allowed
	Log     *zap.Logger
	Pause   time.Duration // before the second attempt; default one second
}

// Webhook sends messages. Make it with [New].
type Webhook struct {
	c      Config
	client *http.Client
	queue  chan message
	base   context.Context
	stop   context.CancelFunc
	done   sync.WaitGroup
}

var _ approval.Notifier = (*Webhook)(nil)

// message is what the server is sent.
type message struct {
	id   string
	Type string        `json:"type"` // approval.requested or approval.decided
	Time time.Time     `json:"timestamp"`
	Data approval.View `json:"data"`
}

// New returns a webhook that is ready.
func New(c Config) *Webhook {
	if c.Pause <= 0 {
		c.Pause = firstPause
	}
	w := &Webhook{c: c, client: newClient(c.Private, patience), queue: make(chan message, queueLength)}
	w.base, w.stop = context.WithCancel(context.Background())
	w.done.Go(w.send)
	return w
}

// Requested implements [approval.Notifier].
func (w *Webhook) Requested(_ context.Context, v approval.View) { w.add("approval.requested", v) }

// Decided implements [approval.Notifier].
func (w *Webhook) Decided(_ context.Context, v approval.View) { w.add("approval.decided", v) }

func (w *Webhook) add(typ string, v approval.View) {
	select {
	case w.queue <- message{"msg_" + rand.Text(), typ, time.Now().UTC(), v}:
	default:
		w.c.Log.Warn("the webhook of approvals is behind, a message is dropped", zap.String("type", typ), zap.String("approval", v.ID))
	}
}

// Close ends the sending. What is queued is dropped.
func (w *Webhook) Close() {
	w.stop()
	w.done.Wait()
	w.client.CloseIdleConnections()
}

// send sends what is queued, one message after the other.
func (w *Webhook) send() {
	for {
		select {
		case <-w.base.Done():
			return
		case m := <-w.queue:
			if err := w.insist(m); err != nil && w.base.Err() == nil {
				w.c.Log.Warn("the webhook of approvals did not take a message", zap.String("type", m.Type), zap.String("approval", m.Data.ID), zap.Error(err))
			}
		}
	}
}

// insist sends a message until the server takes it, or will never do so.
func (w *Webhook) insist(m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding the message: %w", err)
	}
	for n, pause := 1, w.c.Pause; ; n, pause = n+1, 2*pause {
		again, err := w.post(m.id, body)
		if err == nil || !again || n == attempts {
			return err
		}
		select {
		case <-time.After(pause):
		case <-w.base.Done():
			return w.base.Err()
		}
	}
}

// post sends a message once. again says whether another attempt may do better.
func (w *Webhook) post(id string, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(w.base, http.MethodPost, w.c.URL, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("making the request: the address cannot be used")
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "svc")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", stamp)
	r.Header.Set("webhook-signature", "v1,"+Sign(w.c.Secret, id, stamp, body))
	resp, err := w.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may have a key in it
		}
		return !errors.Is(err, ErrAddress), fmt.Errorf("sending: %w", err)
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
