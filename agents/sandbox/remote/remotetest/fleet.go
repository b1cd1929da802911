package remotetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Key is the key that the servers want, and Token the id that goes with it at Modal.
const (
	Key   = "test-key-0123456789abcdef"
	Token = "ak-test"
)

// Faults are what goes wrong. Numbers count down.
type Faults struct {
	SlowStart   int    // looks at a sandbox before it is ready
	NeverReady  bool   // none gets ready
	Busy        int    // requests that are answered with 429
	RetryAfter  string // and with this header
	Fail        int    // requests that are answered with 500
	LostCreate  bool   // a sandbox is made, and the connection is cut before the answer
	LostExec    int    // connections that are cut while a program runs
	FailDelete  int    // deletions that are answered with 500
	Garbage     bool   // answers are no JSON
	RedirectTo  string // answers are redirects
	BigAnswer   int64  // bytes of a file that is fetched, whatever it has
	HideFromAll bool   // lists are empty
	Toolbox     string // address that sandboxes name as that of their toolbox
}

// Fleet is the sandboxes of one provider.
type Fleet struct {
	mu       sync.Mutex
	faults   Faults
	machines map[string]*Machine
	made     int
	deleted  int
	calls    []string
	changed  chan struct{} // closed and made anew when there is another number of sandboxes
}

// NewFleet returns a fleet without sandboxes.
func NewFleet() *Fleet {
	return &Fleet{machines: map[string]*Machine{}, changed: make(chan struct{})}
}

// Break has things go wrong from now on.
func (f *Fleet) Break(faults Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

// Left are the ids of the sandboxes that there are.
func (f *Fleet) Left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []string
	for id := range f.machines {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Made is how many sandboxes there have ever been.
func (f *Fleet) Made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made
}

// Machines are the sandboxes that there are.
func (f *Fleet) Machines() []*Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*Machine
	for _, m := range f.machines {
		all = append(all, m)
	}
	return all
}

// Calls are the requests so far, as "METHOD path", with ID for ids.
func (f *Fleet) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Changed is closed when a sandbox is made or deleted.
func (f *Fleet) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// Add makes a sandbox, as somebody else may have.
func (f *Fleet) Add(labels map[string]string) *Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	m := &Machine{ID: fmt.Sprintf("sb-%04d", f.made), Labels: labels, looks: f.faults.SlowStart, started: float64(f.made)}
	f.machines[m.ID] = m
	f.tellChanged()
	return m
}

func (f *Fleet) tellChanged() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *Fleet) machine(id string) *Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.machines[id]
}

// remove ends a sandbox. It reports false when the deletion is to fail.
func (f *Fleet) remove(id string) bool {
	f.mu.Lock()
	if f.faults.FailDelete > 0 {
		f.faults.FailDelete--
		f.mu.Unlock()
		return false
	}
	m := f.machines[id]
	delete(f.machines, id)
	f.mu.Unlock()
	if m != nil {
		m.end()
		f.mu.Lock()
		f.deleted++
		f.tellChanged()
		f.mu.Unlock()
	}
	return true
}

// note writes a request down.
func (f *Fleet) note(method, path, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != "" {
		path = strings.ReplaceAll(path, id, "ID")
	}
	f.calls = append(f.calls, method+" "+path)
}

// take counts a fault down and reports whether it happens.
func (f *Fleet) take(fault func(*Faults) *int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := fault(&f.faults)
	if *n == 0 {
		return false
	}
	*n--
	return true
}

func (f *Fleet) broken() Faults {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.faults
}

// ready is a look at a sandbox that starts.
func (f *Fleet) ready(m *Machine) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.NeverReady {
		return false
	}
	if m.looks > 0 {
		m.looks--
		return false
	}
	return true
}

// Close ends all sandboxes.
func (f *Fleet) Close() {
	for _, m := range f.Machines() {
		m.end()
	}
}
