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
	"time"

	"github.com/svc-gateway/svc/internal/problem"
)

// sideBySide is how many requests of a flood are under way at a time.
const sideBySide = 40

// flood sends a request many times, 40 at a time, with {n} in its arguments replaced by the number
// of the request, and prints how often each status and code came back. With -stall the directory
// answers nobody for a while, so that those who do not wait for each other ask it side by side.
func flood(c *call) (err error) {
	stall := time.Duration(0)
	if len(c.args) > 2 && c.args[0] == "-stall" {
		d, err := time.ParseDuration(c.args[1])
		if err != nil {
			return err
		}
		stall, c.args = d, c.args[2:]
	}
	if len(c.args) < 3 {
		return errors.New("usage: flood [-stall DURATION] COUNT [-H header] [-u user:password] METHOD PATH")
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
	if stall > 0 {
		if err := c.directory.Pause(); err != nil {
			return err
		}
		resumed := make(chan error, 1)
		time.AfterFunc(stall, func() { resumed <- c.directory.Resume() })
		defer func() { err = errors.Join(err, <-resumed) }()
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
	for range min(sideBySide, len(requests)) {
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
