//go:build linux

package testscript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/internal/problem"
)

// flood sends a request many times, eight at a time, with {n} in its arguments replaced by the
// number of the request, and prints how often each status and code came back.
func flood(c *call) error {
	if len(c.args) < 3 {
		return errors.New("usage: flood COUNT [-H header] [-u user:password] METHOD PATH")
	}
	count, err := strconv.Atoi(c.args[0])
	if err != nil {
		return err
	}
	var requests []request
	for n := range count {
		one := &call{session: c.session, ts: c.ts}
		for _, arg := range c.args[1:] {
			one.args = append(one.args, strings.ReplaceAll(arg, "{n}", strconv.Itoa(n+1)))
		}
		r, err := one.newRequest(nil)
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	answers, err := c.sendAll(requests)
	for _, answer := range slices.Sorted(maps.Keys(answers)) {
		fmt.Fprintf(&c.out, "%d %s\n", answers[answer], answer)
	}
	return err
}

// sendAll returns how often each status and code came back.
func (c *call) sendAll(requests []request) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers, first := map[string]int{}, error(nil)
	queue := make(chan request)
	for range 8 {
		wg.Go(func() {
			for r := range queue {
				answer, err := c.answer(ctx, r)
				mu.Lock()
				answers[answer]++
				first = cmp.Or(first, err)
				mu.Unlock()
			}
		})
	}
	for _, r := range requests {
		queue <- r
	}
	close(queue)
	wg.Wait()
	return answers, first
}

// answer sends a request and returns the status with the code of the problem, if any.
func (c *call) answer(ctx context.Context, r request) (string, error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return "none", err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 {
		_, err := io.Copy(io.Discard, resp.Body)
		return strconv.Itoa(resp.StatusCode), err
	}
	return fmt.Sprint(resp.StatusCode, " ", problem.Parse(resp).Code), nil
}
