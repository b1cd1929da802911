package web

import (
	"context"
	"net/http"
)

// Arrival is what only those know of a request who know the proxies before it.
type Arrival struct {
	Root   string // the path that the client has for the prefix
	Secure bool   // whether it came over TLS
}

type arrivalKey struct{}

// WithArrival returns a context whose requests arrived like that.
func WithArrival(ctx context.Context, a Arrival) context.Context {
	return context.WithValue(ctx, arrivalKey{}, a)
}

// ArrivalOf returns how the request arrived: as [WithArrival] said, which every request that a
// [Handler] serves has.
func ArrivalOf(r *http.Request) Arrival {
	a, _ := r.Context().Value(arrivalKey{}).(Arrival)
	return a
}

// arrived makes sure of an arrival: without any, there is no proxy.
func arrived(r *http.Request, prefix string) *http.Request {
	if _, ok := r.Context().Value(arrivalKey{}).(Arrival); ok {
		return r
	}
	return r.WithContext(WithArrival(r.Context(), Arrival{Root: prefix, Secure: r.TLS != nil}))
}
