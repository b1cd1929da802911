package langgraph

import (
	"errors"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	kept "github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/internal/problem"
)

// keepFault is what a client may know of an error of what is kept for users: assistants, items and crons.
// Other errors stay as they are.
func keepFault(err error) error {
	for _, known := range []struct {
		err    error
		status int
		code   string
		detail string
	}{
		{kept.ErrVersionNotFound, http.StatusNotFound, "version_not_found", "version: the assistant has no such version; POST /assistants/{assistant_id}/versions lists them"},
		{kept.ErrExists, http.StatusConflict, "assistant_exists", "assistant_id: there is an assistant with this id; if_exists do_nothing returns it, if it is yours"},
		{kept.ErrReadOnly, http.StatusForbidden, "assistant_read_only", "assistant_id: the assistant belongs to the service and does not change; POST /assistants makes one of your own over its graph"},
		{kept.ErrFull, http.StatusConflict, "too_many_assistants", "the limit of assistants, or of versions of this one, is reached; delete some"},
		{items.ErrTooLarge, http.StatusRequestEntityTooLarge, "value_too_large", "value: " + items.ErrTooLarge.Error()},
		{items.ErrFull, http.StatusConflict, "store_full", "there is no room for the item; delete some, or give them a ttl"},
		{items.ErrAmbiguous, http.StatusConflict, "several_owners", "user_id: is missing; several users have an item of this name"},
		{items.ErrNotFound, http.StatusNotFound, "item_not_found", "user_id: there is no such user's store for you"},
		{cron.ErrNotFound, http.StatusNotFound, "cron_not_found", "cron_id: there is no such cron; POST /runs/crons/search lists them"},
		{cron.ErrFull, http.StatusConflict, "too_many_crons", cron.ErrFull.Error() + "; delete some"},
		{cron.ErrConflict, http.StatusConflict, "cron_changed", "others change the cron at the same time; try again"},
	} {
		if errors.Is(err, known.err) {
			return problem.Problem{Status: known.status, Code: known.code, Detail: known.detail}
		}
	}
	if errors.Is(err, kept.ErrNotFound) {
		return agents.ErrUnknownAssistant
	}
	return err
}

// failKept answers with what a client may know of such an error.
func (d *dialect) failKept(w http.ResponseWriter, r *http.Request, err error) {
	d.Fail(w, r, keepFault(err))
}
