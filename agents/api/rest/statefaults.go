package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/problem"
)

// stateFault is what a client may know of an error about threads' states, and about runs that begin in
// them.
func stateFault(err error) (problem.Problem, bool) {
	if f, ok := errors.AsType[*agents.FieldError](err); ok {
		return problem.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid_input", Detail: f.Error()}, true
	}
	for _, known := range []struct {
		err    error
		status int
		code   string
		detail string
	}{
		{agents.ErrThreadExists, http.StatusConflict, "thread_exists", "thread_id: there is a thread with this id; if_exists do_nothing returns it, if it is yours"},
		{agents.ErrCheckpointNotFound, http.StatusNotFound, "checkpoint_not_found", "checkpoint_id: the thread has no such checkpoint"},
		{agents.ErrNothingToDo, http.StatusConflict, "nothing_to_do", "input: is missing, and nothing comes next in the thread's state"},
		{agents.ErrValuesTooLarge, http.StatusRequestEntityTooLarge, "values_too_large", "values: what is set beside messages must not be larger than 1 MiB at once, and 4 MiB in the thread's life; the store keeps more"},
		{agents.ErrThreadFull, http.StatusRequestEntityTooLarge, "thread_full", fmt.Sprintf("messages: the thread has no room for them; it may have %d messages and %d MiB of them in all its branches. "+
			"Begin a new thread, or POST /threads/prune with the strategy keep_latest", agents.MaxMessages, agents.MaxSaid>>20)},
		{agents.ErrIdempotency, http.StatusUnprocessableEntity, "idempotency_key_reused", "Idempotency-Key: another request has used this key"},
		{agents.ErrWebhook, http.StatusUnprocessableEntity, "webhook_forbidden", "webhook: nothing may be sent to this address"},
		{agents.ErrNotInterrupted, http.StatusConflict, "not_interrupted", "no run of the thread stands at a stop"},
	} {
		if errors.Is(err, known.err) {
			return problem.Problem{Status: known.status, Code: known.code, Detail: known.detail}, true
		}
	}
	return problem.Problem{}, false
}
