package caddytest

import (
	"errors"
	"io"
	"net/http"
	"syscall"
)

// attempts is how often Client sends a request whose connection goes away unanswered.
const attempts = 5

// Client sends requests as they are and follows no redirect. It sends one again when its
// connection went away before an answer: a reload closes the old listener, and with it idle
// connections and those that nobody had accepted yet (SO_REUSEPORT), as bare Caddy does.
var Client = &http.Client{
	Transport: Resending(http.DefaultTransport),
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
}

// Resending is what Client does, over a transport of one's own.
func Resending(t http.RoundTripper) http.RoundTripper { return resender{t} }

type resender struct{ http.RoundTripper }

func (s resender) RoundTrip(r *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		resp, err := s.RoundTripper.RoundTrip(r)
		if err == nil || attempt == attempts || !dropped(err) || r.Body != nil && r.GetBody == nil {
			return resp, err
		}
		if r.Body != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

func dropped(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}
