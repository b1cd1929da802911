package mcp

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/plaintext"
)

// How it stands with a tool.
const (
	StateApproved = "approved"
	StateNew      = "new"     // waits for approval
	StateChanged  = "changed" // it was approved as something else, or of another server, and waits for approval
	StateRemoved  = "removed" // it was approved, and the server does not have it any more
	StateRefused  = "refused" // it cannot be approved
)

// Status is how it stands with a server, for people.
type Status struct {
	Name   string       `json:"name"`
	Where  string       `json:"where"`  // in the sandbox, on the host, or the address
	Status string       `json:"status"` // connected, connecting or degraded
	Reason string       `json:"reason,omitempty"`
	Since  time.Time    `json:"since"`
	Digest string       `json:"digest,omitempty"` // of the list that can be approved; empty: there is nothing to approve
	Tools  []ToolStatus `json:"tools"`
}

// ToolStatus is how it stands with one tool. All texts are the server's, made fit to be printed.
type ToolStatus struct {
	Name        string `json:"name"` // as it is called here
	Tool        string `json:"tool"` // as the server calls it
	State       string `json:"state"`
	Action      string `json:"action"` // use, mutate, or ask
	Problem     string `json:"problem,omitempty"`
	Findings    int    `json:"findings,omitempty"` // literal phrases of injections in its texts
	Description string `json:"description"`
	Schema      string `json:"schema"`
	Was         *Was   `json:"was,omitempty"` // what was approved, when it is something else
}

// Was is a tool as it was approved.
type Was struct {
	Description string `json:"description"`
	Schema      string `json:"schema"`
}

// Errors of [Server.Approve].
var (
	ErrNotConnected = errors.New("the server does not work now, so that nobody knows what its tools are")
	ErrOtherList    = errors.New("the server's tools are others than those that were looked at")
	ErrNothing      = errors.New("there is nothing to approve")
)

// Status says how it stands.
func (s *Server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.c.Name, Where: s.c.where(), Status: "connected", Reason: s.reason, Since: s.since.UTC(), Tools: []ToolStatus{}}
	switch {
	case s.reason != "":
		st.Status = "degraded"
	case s.session == nil:
		st.Status = "connecting"
	}
	if s.session != nil && !s.pinned() && len(s.approvable())+len(s.pins.Tools) > 0 {
		st.Digest = digest(s.approvable())
	}
	if s.known {
		for _, c := range s.offered {
			st.Tools = append(st.Tools, s.status(c))
		}
	}
	for _, o := range s.pins.Tools {
		there := slices.ContainsFunc(s.offered, func(c candidate) bool { return c.Name == o.Name })
		if !there {
			t := s.shown(o)
			switch {
			case s.known:
				t.State = StateRemoved
			case s.same():
				t.State = StateApproved
			default:
				t.State = StateChanged
			}
			st.Tools = append(st.Tools, t)
		}
	}
	slices.SortFunc(st.Tools, func(a, b ToolStatus) int { return strings.Compare(a.Tool, b.Tool) })
	return st
}

func (s *Server) status(c candidate) ToolStatus {
	t := s.shown(c.Offer)
	t.Problem, t.Findings = plaintext.Clean([]byte(s.c.mask.Replace(c.problem))), len(c.findings)
	was, pinned := s.pins.find(c.Name)
	switch {
	case c.problem != "":
		t.State = StateRefused
	case !pinned:
		t.State = StateNew
	case same(was, c.Offer) && s.same():
		t.State = StateApproved
		return t
	default:
		t.State = StateChanged
	}
	if pinned {
		old := s.shown(was)
		t.Was = &Was{old.Description, old.Schema}
	}
	return t
}

func (s *Server) shown(o Offer) ToolStatus {
	action := "ask"
	if a, ok := s.c.Actions[o.Name]; ok {
		action = string(a)
	}
	clean := func(text []byte) string { return plaintext.Clean([]byte(s.c.mask.Replace(string(text)))) }
	name := clean([]byte(o.Name))
	return ToolStatus{Name: Prefix(s.c.Name) + name, Tool: name, Action: action, Description: clean([]byte(o.Description)), Schema: clean(o.Schema)}
}

// approvable are the tools that the server has now and that can be approved.
func (s *Server) approvable() []Offer {
	var all []Offer
	for _, c := range s.offered {
		if c.problem == "" {
			all = append(all, c.Offer)
		}
	}
	return all
}

// same reports whether the server is the one that tools were approved of, and not another with its name.
func (s *Server) same() bool { return s.pins.Server.same(s.c.origin()) }

// pinned reports whether what can be approved is what was approved.
func (s *Server) pinned() bool {
	return s.same() && slices.EqualFunc(s.approvable(), s.pins.Tools, same)
}

func same(a, b Offer) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// Approve has exactly the tools used that somebody has looked at: digest is that of their [Status]. What
// cannot be approved is left out. The error is one of the above, or of writing the pins.
func (s *Server) Approve(by, looked string) ([]Offer, error) {
	var approved []Offer
	var err error
	s.change(func() {
		approved = s.approvable()
		switch {
		case s.session == nil:
			err = ErrNotConnected
		case s.pinned(), len(approved)+len(s.pins.Tools) == 0:
			err = ErrNothing
		case digest(approved) != looked:
			err = ErrOtherList
		}
		p := pins{By: by, At: time.Now().UTC(), Server: s.c.origin(), Tools: approved}
		if err == nil {
			err = p.write(s.file)
		}
		if err == nil {
			s.pins = p
		}
	})
	return approved, err
}

// usable are the tools that agents have: as they were approved of this server and, as far as is known, still are.
func (s *Server) usable() []Offer {
	if !s.same() {
		return nil
	}
	var all []Offer
	for _, o := range s.pins.Tools {
		if !s.known || slices.ContainsFunc(s.offered, func(c candidate) bool { return c.problem == "" && same(c.Offer, o) }) {
			all = append(all, o)
		}
	}
	return all
}
