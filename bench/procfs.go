package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: USER_HZ is 100 wherever Linux runs Go.
const tick = 10 * time.Millisecond

// processorTime is the processor time that a process has used, its threads and the kernel's work
// for it included.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading processor time: %w", err)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // the name before it may hold anything
	f := strings.Fields(string(rest))
	if len(f) < 13 {
		return 0, fmt.Errorf("reading processor time: /proc/%d/stat has %d fields", pid, len(f))
	}
	var sum int64
	for _, v := range f[11:13] { // utime and stime, fields 14 and 15
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading processor time: %w", err)
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// memory is a process's resident memory in bytes.
type memory struct {
	Resident int64 // all of it
	Own      int64 // what is not mapped from a file
	Live     int64 // heap and stacks in use after a collection; 0: not asked
}

func (m memory) minus(o memory) memory {
	return memory{m.Resident - o.Resident, m.Own - o.Own, m.Live - o.Live}
}

func (m memory) each(n int) memory {
	return memory{m.Resident / int64(n), m.Own / int64(n), m.Live / int64(n)}
}

func residentMemory(pid int) (memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, fmt.Errorf("reading memory: %w", err)
	}
	var m memory
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &m.Resident, "RssAnon": &m.Own}[name]
		if into == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return memory{}, fmt.Errorf("reading memory: %w", err)
		}
		*into = kib << 10
	}
	if m.Resident == 0 {
		return memory{}, fmt.Errorf("reading memory: /proc/%d/status does not name it", pid)
	}
	return m, nil
}

// collected is the memory after two garbage collections, the second of which returns what the
// first has freed from pools.
func (s *service) collected(ctx context.Context) (memory, error) {
	admin := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", s.admin)
		},
	}}
	get := func(path string) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+path, http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := admin.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s answers %s", path, resp.Status)
		}
		return io.ReadAll(resp.Body)
	}
	var vars []byte
	for _, path := range []string{"/debug/pprof/heap?gc=1", "/debug/pprof/heap?gc=1", "/debug/vars"} {
		var err error
		if vars, err = get(path); err != nil {
			return memory{}, fmt.Errorf("asking the admin socket for memory: %w", err)
		}
	}
	var v struct{ Memstats runtime.MemStats }
	if err := json.Unmarshal(vars, &v); err != nil {
		return memory{}, fmt.Errorf("reading memory statistics: %w", err)
	}
	m, err := residentMemory(s.pid())
	m.Live = int64(v.Memstats.HeapInuse + v.Memstats.StackInuse)
	return m, err
}
