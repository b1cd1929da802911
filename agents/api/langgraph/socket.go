package langgraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
)

// Bounds of a WebSocket.
const (
	maxSubscriptions = 64
	commandsPerSec   = 20 // on average; more wait
	commandsAtOnce   = 60
	pingEvery        = 15 * time.Second
	writeTime        = 30 * time.Second // that a client may take to read what it is sent
)

// Codes that a WebSocket is closed with: 4000 and the status that a request would have been answered with.
// Clients do not come back after those of the 4000s.
const closeStatus = 4000

// socket serves the WebSocket of a thread: commands and events on one connection. A thread that is not there
// may be created by a command.
func (d *dialect) socket(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		problem.Write(w, r, problem.Problem{
			Status: http.StatusUpgradeRequired, Code: "upgrade_required", Detail: "GET opens a WebSocket here; POST streams server-sent events",
		})
		return
	}
	// Whether a page of another origin may come with the credential is for the stage that read it, as
	// with all requests: only that knows whether the browser added it by itself.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // answered
	}
	defer conn.CloseNow() //nolint:errcheck // it has been closed, or the client has gone
	conn.SetReadLimit(d.Options.BodyBytes)
	s := &talk{d: d, conn: conn, limit: rate.NewLimiter(commandsPerSec, commandsAtOnce)}
	code, reason := s.serve(r)
	_ = conn.Close(code, reason) // it may have been closed with this already
}

// talk is one connection of a client.
type talk struct {
	d     *dialect
	conn  *websocket.Conn
	limit *rate.Limiter
	feed  *feed
	last  int // subscription

	mu sync.Mutex // one message at a time
}

// serve works until the connection or the credential ends, and says what the client is told.
func (s *talk) serve(r *http.Request) (websocket.StatusCode, string) {
	ctx, stop := context.WithCancelCause(r.Context())
	defer stop(nil)
	thread, ok := rest.UUID(r.PathValue("thread_id"))
	if !ok {
		return closeStatus + http.StatusUnprocessableEntity, "thread_id: must be a valid uuid"
	}
	r = r.WithContext(ctx)
	r.Header = r.Header.Clone()
	r.Header.Del(idempotencyKey) // of this request, not of each command
	view := s.d.View(r)
	if there, err := view.Reachable(ctx, thread); err != nil {
		return closing(err)
	} else if !there {
		return closing(agents.ErrThreadNotFound)
	}
	s.feed = &feed{d: s.d, view: view, thread: thread, put: s.events}
	go s.ping(ctx)
	over := make(chan error, 2)
	var both sync.WaitGroup
	both.Go(func() { over <- s.read(ctx, r, thread) })
	both.Go(func() { over <- s.feed.follow(ctx, nil) })
	err := <-over
	stop(errGone)
	code, reason := closing(err)
	_ = s.conn.Close(code, reason) // a client that has gone is told nothing
	both.Wait()
	return code, reason
}

// closing is how a WebSocket is closed that ends with an error.
func closing(err error) (websocket.StatusCode, string) {
	if status := websocket.CloseStatus(err); status != -1 {
		return websocket.StatusNormalClosure, ""
	}
	if errors.Is(err, policy.ErrRevoked) || errors.Is(err, policy.ErrExpired) {
		_, message, _ := rest.StreamEnd(err)
		return closeStatus + http.StatusForbidden, message
	}
	p := rest.Problem(err)
	switch {
	case errors.Is(err, policy.ErrStopping):
		return websocket.StatusGoingAway, "the service is stopping"
	case errors.Is(err, budget.ErrFull):
		return websocket.StatusTryAgainLater, "too many large commands at once"
	case errors.Is(err, errUnread):
		return websocket.StatusUnsupportedData, "messages must be text"
	case p.Status == http.StatusNotFound, p.Status == http.StatusForbidden, p.Status == http.StatusUnprocessableEntity:
		return websocket.StatusCode(closeStatus + p.Status), short(p.Detail)
	}
	return websocket.StatusInternalError, "the thread's events cannot be read"
}

// short is a text that fits into a Close frame.
func short(text string) string {
	const most = 120
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// ping asks the client for a sign of life, again and again.
func (s *talk) ping(ctx context.Context) {
	again := time.NewTicker(pingEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingEvery)
		err := s.conn.Ping(wait)
		cancel()
		if err != nil {
			_ = s.conn.CloseNow() // who reads and writes learns of it
			return
		}
	}
}

// send writes a message. It is not cut off by what ends the connection, which would then end without a word.
func (s *talk) send(doc []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, doc)
}

// events writes events.
func (s *talk) events(events []event) error {
	for _, e := range events {
		if err := s.send(e.doc); err != nil {
			return err
		}
	}
	return nil
}

// errUnread means that a client sent something else than text.
var errUnread = errors.New("the message is no text")

// read obeys commands until the connection ends.
func (s *talk) read(ctx context.Context, r *http.Request, thread string) error {
	for {
		if err := s.turn(ctx, r, thread); err != nil {
			return err
		}
	}
}

// turn obeys the next command. There is memory for it and for what is made of it until the reply is written,
// as for the body of a request.
func (s *talk) turn(ctx context.Context, r *http.Request, thread string) error {
	hold := s.d.Options.Memory.Hold(rest.Caller(r).User)
	defer hold.Release()
	doc, err := s.next(ctx, hold)
	if err != nil {
		return err
	}
	if err := rest.TakeMade(ctx, hold, doc); err != nil {
		return err
	}
	if err := s.limit.Wait(ctx); err != nil {
		return err
	}
	return s.send(encode(s.reply(ctx, r, thread, doc)))
}

// next reads a message. Who sends a part of one and no more is not waited for.
func (s *talk) next(ctx context.Context, hold *budget.Hold) ([]byte, error) {
	still, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the connection is closed
	defer stop()
	kind, from, err := s.conn.Reader(still)
	switch {
	case err != nil:
		return nil, err
	case kind != websocket.MessageText:
		return nil, errUnread
	}
	defer time.AfterFunc(s.d.Options.CommandTime, stop).Stop()
	return rest.ReadHeld(ctx, from, hold, s.d.Options.BodyBytes)
}

// reply obeys a command and is the reply to it.
func (s *talk) reply(ctx context.Context, r *http.Request, thread string, doc []byte) CommandReply {
	var body CommandBody
	err := strictjson.Check(doc)
	if err != nil {
		err = rest.Invalid("the message must be a JSON object: " + err.Error())
	} else if object(doc) == nil {
		err = rest.Invalid("the message must be a JSON object")
	} else {
		doc, _ = rest.Open(doc, nil)
		err = s.d.Into(doc, &body)
	}
	var reply CommandReply
	if err == nil {
		if do := s.methods(body.Method); do != nil {
			var result any
			result, err = do(ctx, body.Params)
			reply = CommandReply{Type: replySuccess, Result: result}
		} else {
			reply, err = s.d.obey(r, thread, &body)
		}
	}
	if err != nil {
		reply = failed(err)
	}
	reply.ID, reply.Meta = body.ID, s.d.meta(r, thread)
	return reply
}

// methods are the commands of connections.
func (s *talk) methods(name string) func(context.Context, json.RawMessage) (any, error) {
	switch name {
	case "subscription.subscribe":
		return s.subscribe
	case "subscription.unsubscribe":
		return s.unsubscribe
	case "subscription.reconnect":
		return s.reconnect
	}
	return nil
}

func (s *talk) subscribe(ctx context.Context, doc json.RawMessage) (any, error) {
	var f Filter
	if err := json.Unmarshal(doc, &f); err != nil {
		return nil, rest.Invalid("params: " + wrongType(err))
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	id := fmt.Sprintf("s%d", s.last+1)
	n, err := s.feed.subscribe(ctx, subscription{id, f})
	if err != nil {
		return nil, err
	}
	s.last++
	return map[string]any{"subscription_id": id, "replayed_events": n}, nil
}

func (s *talk) unsubscribe(_ context.Context, doc json.RawMessage) (any, error) {
	var in struct {
		ID string `json:"subscription_id"`
	}
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, rest.Invalid("params: " + wrongType(err))
	}
	if !s.feed.unsubscribe(in.ID) {
		return nil, &commandError{codeSubscription, "subscription_id: this connection has no such subscription"}
	}
	return map[string]any{}, nil
}

// reconnect answers a client that lost its connection, and its subscriptions with it.
func (s *talk) reconnect(context.Context, json.RawMessage) (any, error) {
	return map[string]any{"restored": false}, nil
}
