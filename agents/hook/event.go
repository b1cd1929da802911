package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/scanner/redact"
)

// The events.
const (
	SessionStart  = "session.start"  // a run of a top-level agent has begun
	SessionEnd    = "session.end"    // it is over
	ToolCall      = "tool.call"      // a tool call has its final status
	HITLRequested = "hitl.requested" // a call waits for a person
	HITLDecision  = "hitl.decision"  // a person, or the clock, has decided
)

// Events are the names of all events.
var Events = [...]string{SessionStart, SessionEnd, ToolCall, HITLRequested, HITLDecision}

// Errors of [Fire] and [Hooks.Fire].
var (
	ErrUnknownEvent = errors.New("unknown event")
	ErrArguments    = errors.New("bad arguments of a hook")
	ErrFull         = errors.New("too many events are waiting for their hooks")
	ErrStopped      = errors.New("the service is stopping")
	ErrNoHooks      = errors.New("this context has no hooks")
)

const (
	maxPairs = 32      // keyword arguments of an event
	maxName  = 64      // bytes of an argument's name
	maxValue = 4 << 10 // bytes of a value
	prefix   = "SVC_HOOK_"
	cutMark  = "…"
)

// unknownEvent says that there is no such event, and which was meant.
func unknownEvent(event string) error {
	return fmt.Errorf("%w: %q is none of %s%s", ErrUnknownEvent, shorten(event, maxName), strings.Join(Events[:], ", "),
		suggest.DidYouMean(shorten(event, maxName), Events[:]))
}

// environment makes the variables of an event from its keyword arguments: agent_id is given to the
// commands as SVC_HOOK_AGENT_ID.
func (h *Hooks) environment(kv []string) ([]string, error) {
	switch {
	case len(kv)%2 != 0:
		return nil, fmt.Errorf("%w: %d words are no pairs of a name and a value", ErrArguments, len(kv))
	case len(kv) > 2*maxPairs:
		return nil, fmt.Errorf("%w: %d pairs, of %d at most", ErrArguments, len(kv)/2, maxPairs)
	}
	env := make([]string, 0, len(kv)/2)
	var names []string
	for pair := range slices.Chunk(kv, 2) {
		name := strings.ToUpper(pair[0])
		if !validName(name) {
			return nil, fmt.Errorf("%w: %q is not a name: use letters, digits and _, %d at most", ErrArguments, shorten(pair[0], maxName), maxName)
		}
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("%w: %s is given twice", ErrArguments, pair[0])
		}
		names = append(names, name)
		env = append(env, prefix+name+"="+h.value(pair[1]))
	}
	return env, nil
}

func validName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}

// value makes a value fit to be given to a command: without credentials, in valid UTF-8 without NUL,
// of bounded length.
func (h *Hooks) value(s string) string {
	if len(s) > 2*maxValue {
		s = s[:2*maxValue] // what is beyond is cut in any case
	}
	return shorten(h.redact(plain(s)), maxValue)
}

// redact replaces the credentials in a text, or in a JSON document so that it stays one.
func (h *Hooks) redact(text string) string {
	var secrets *redact.Secrets
	if h != nil {
		secrets = h.secrets.Load()
	}
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return string(secrets.RedactJSON([]byte(text)))
	}
	return secrets.Redact(text)
}

// plain replaces what the environment of a process cannot hold, and what is not UTF-8.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// shorten cuts a text to at most n bytes; one that was cut ends with a mark.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len(cutMark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cutMark
}

// SessionStart fires the event: a run of a top-level agent has begun.
func (h *Hooks) SessionStart(agent, model, user string) {
	h.tell(SessionStart, "agent_id", agent, "model", model, "user", user)
}

// SessionEnd fires the event: a run of a top-level agent is over.
func (h *Hooks) SessionEnd(agent string) { h.tell(SessionEnd, "agent_id", agent) }

// ToolCall fires the event: a call has its final status, after so much time. The time is zero for a
// call whose tool did not run, and for one whose process died.
func (h *Hooks) ToolCall(tool, status string, took time.Duration) {
	h.tell(ToolCall, "tool", tool, "status", status, "duration_ms", strconv.FormatInt(took.Milliseconds(), 10))
}

// tell fires an event of the runtime's, which has the right form. That it does not fit into the queue
// is in the log.
func (h *Hooks) tell(event string, kv ...string) { _ = h.Fire(event, kv...) }
