package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// load is what is sent how: each client sends its next request when it has the whole response
// to the one before.
type load struct {
	addr    string
	clients int
	request []byte
	check   func() checker // one for each client
	warm    time.Duration
	lasting time.Duration
	pid     int // whose processor time is counted
}

// sample is what a load has measured.
type sample struct {
	Rate  float64       // responses a second
	P50   time.Duration // from the request to the end of the response
	P99   time.Duration
	First time.Duration // to the first event, median
	F99   time.Duration
	CPU   time.Duration // processor time of the service for one response
}

// slack is how long a single response may take.
const slack = 30 * time.Second

// measure makes the load for a while.
func (l load) measure(ctx context.Context) (sample, error) {
	return l.during(ctx, func(ctx context.Context) error { return pause(ctx, l.lasting) })
}

// during makes the load while f runs. Responses that end between its begin, after the warm-up, and
// its end are counted.
func (l load) during(ctx context.Context, f func(context.Context) error) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	from, over := time.Now().Add(l.warm), make(chan struct{})
	all := make([][]timing, l.clients)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			var err error
			if all[i], err = l.client(ctx, from, over); err != nil {
				cancel(err)
			}
		})
	}
	cpu, err := l.cpu(ctx, from, f)
	if err != nil {
		cancel(err)
	}
	took := time.Since(from)
	close(over)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return sample{}, fmt.Errorf("%d clients: %w", l.clients, err)
	}
	return summarize(slices.Concat(all...), took, cpu)
}

// client is one client of the load.
func (l load) client(ctx context.Context, from time.Time, over <-chan struct{}) ([]timing, error) {
	c, err := dial(ctx, l.addr, 8<<10)
	if err != nil {
		return nil, err
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	if err := c.conn.SetDeadline(from.Add(l.lasting + slack)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	ck := l.check()
	timings := make([]timing, 0, 4096)
	for {
		t, err := c.do(l.request, ck)
		if err != nil {
			return nil, err
		}
		select {
		case <-over:
			return timings, nil
		default:
			if time.Now().After(from) {
				timings = append(timings, t)
			}
		}
	}
}

// cpu is the processor time that the service used while f ran.
func (l load) cpu(ctx context.Context, from time.Time, f func(context.Context) error) (time.Duration, error) {
	if err := pause(ctx, time.Until(from)); err != nil {
		return 0, err
	}
	before, err := processorTime(l.pid)
	if err != nil {
		return 0, err
	}
	if err := f(ctx); err != nil {
		return 0, err
	}
	after, err := processorTime(l.pid)
	return after - before, err
}

func summarize(all []timing, lasting, cpu time.Duration) (sample, error) {
	if len(all) == 0 {
		return sample{}, fmt.Errorf("no response came within %s", lasting)
	}
	whole, first := make([]time.Duration, len(all)), make([]time.Duration, len(all))
	for i, t := range all {
		whole[i], first[i] = t.whole, t.first
	}
	slices.Sort(whole)
	slices.Sort(first)
	return sample{
		Rate: float64(len(all)) / lasting.Seconds(),
		P50:  percentile(whole, 50), P99: percentile(whole, 99),
		First: percentile(first, 50), F99: percentile(first, 99),
		CPU: cpu / time.Duration(len(all)),
	}, nil
}
