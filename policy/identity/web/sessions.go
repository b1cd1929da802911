package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// maxShown bounds the sessions on a page.
const maxShown = 200

// sessionsBody is the answer to GET /sessions.
type sessionsBody struct {
	Sessions []identity.Session `json:"sessions"`
}

// endedBody is the answer to DELETE /sessions.
type endedBody struct {
	Ended []identity.Session `json:"ended"`
}

// whoami tells a client as whom it acts.
func (*Handler) whoami(w http.ResponseWriter, _ *http.Request, p policy.Principal) { writeJSON(w, p) }

// ticketBody is the answer to POST /ticket.
type ticketBody struct {
	Ticket    string `json:"ticket"`
	ExpiresIn int    `json:"expires_in"` // seconds
}

// ticket gives out a ticket for a WebSocket.
func (h *Handler) ticket(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	secret, err := h.Service.Ticket(p)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	writeJSON(w, ticketBody{secret.Reveal(), int(identity.TicketLife.Seconds())})
}

// listSessions lists one's own sessions, the newest first; an admin asks for those of somebody
// with user, for those of everybody with all.
func (h *Handler) listSessions(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	query := r.URL.Query()
	user, all := cmp.Or(query.Get("user"), p.User), false
	if text := query.Get("all"); text != "" {
		var err error
		if all, err = strconv.ParseBool(text); err != nil {
			problem.Write(w, r, problem.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid_request", Detail: "all: want true or false"})
			return
		}
	}
	if all {
		user = ""
	}
	if user != p.User && !p.Role.May(policy.AdminAction) {
		h.Refuse(w, r, identity.ErrForbidden)
		return
	}
	list, err := h.sessions(r, user)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	writeJSON(w, sessionsBody{list})
}

// sessions returns the sessions of a user, of all when it is empty, the newest first.
func (h *Handler) sessions(r *http.Request, user string) ([]identity.Session, error) {
	list, err := h.Service.Sessions(r.Context(), user)
	slices.Reverse(list) // for those of the same moment
	slices.SortStableFunc(list, func(a, b identity.Session) int { return b.Created.Compare(a.Created) })
	return listed(list), err
}

// listed is a list that is [] in JSON when it is empty.
func listed(list []identity.Session) []identity.Session { return append([]identity.Session{}, list...) }

// endSessions ends one's own session whose id is in the path, or all of them.
func (h *Handler) endSessions(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	ended, err := h.Service.Logout(r.Context(), p, p.User, sessionID(r.URL.Path[len(h.Prefix):]))
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	writeJSON(w, endedBody{listed(ended)})
}

// endForm ends sessions for the account page, where an admin sees those of others.
func (h *Handler) endForm(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		h.Refuse(w, r, invalid(err, "the form cannot be read"))
		return
	}
	user := cmp.Or(r.PostForm.Get("user"), p.User)
	if _, err := h.Service.Logout(r.Context(), p, user, r.PostForm.Get("id")); err != nil {
		h.Refuse(w, r, err)
		return
	}
	redirect(w, ArrivalOf(r).Root+"/account")
}

// account shows who one is and which sessions there are.
func (h *Handler) account(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	own, err := h.sessions(r, p.User)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	warnings, err := h.Service.Warnings(r.Context(), p)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	data := accountPage{Title: "Account", Principal: p, Warnings: warnings, Own: own}
	if p.Role.May(policy.AdminAction) {
		all, err := h.sessions(r, "")
		if err != nil {
			h.Refuse(w, r, err)
			return
		}
		data.Others = slices.DeleteFunc(all, func(s identity.Session) bool { return s.User == p.User })
	}
	data.cut()
	h.page(w, r, http.StatusOK, "account", data)
}
