package identity

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/svc-gateway/svc/policy"
)

// ticketParameter is the parameter of the query that holds a ticket.
const ticketParameter = "ticket"

// NewTicketProvider returns the provider of tickets, which are sent in the query of a request to open a
// WebSocket: a browser sends no header of a page's choice with it. Because a ticket is used up by the
// request, its place in logs does no harm. Parameters of the same name that hold something else, and all
// in other requests, are left alone.
func NewTicketProvider(s *Service) Provider { return ticketProvider{s} }

type ticketProvider struct{ s *Service }

func (ticketProvider) Name() string { return "ticket" }

func (p ticketProvider) Authenticate(r *http.Request) (policy.Principal, Outcome, error) {
	if !strings.Contains(r.URL.RawQuery, ticketPrefix) || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return policy.Principal{}, NotMine, nil
	}
	var tickets []string
	for _, value := range r.URL.Query()[ticketParameter] {
		if strings.HasPrefix(value, ticketPrefix) {
			tickets = append(tickets, value)
		}
	}
	switch len(tickets) {
	case 0:
		return policy.Principal{}, NotMine, nil
	case 1:
	default:
		return policy.Principal{}, No, errConflict
	}
	principal, err := p.s.Redeem(r.Context(), tickets[0])
	if err != nil {
		return policy.Principal{}, No, ticketRefusals.of(err)
	}
	return principal, Yes, nil
}

// StripTicket returns the URL without tickets, for somebody else's server.
func StripTicket(u *url.URL) *url.URL {
	if !strings.Contains(u.RawQuery, ticketPrefix) {
		return u
	}
	var kept []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name != ticketParameter || !strings.HasPrefix(value, ticketPrefix) {
			kept = append(kept, part)
		}
	}
	stripped := *u
	stripped.RawQuery = strings.Join(kept, "&")
	return &stripped
}

var ticketRefusals = refusals{
	{ErrMalformed, &Refused{
		Status: http.StatusUnauthorized, Code: "ticket_malformed", Reason: "malformed",
		Detail: "The ticket is incomplete, or not of this service.",
	}},
	{ErrTicketUsed, &Refused{
		Status: http.StatusUnauthorized, Code: "ticket_used", Reason: "used",
		Detail: "The ticket was used before: ask for another one for each connection.",
	}},
	{ErrExpired, &Refused{
		Status: http.StatusUnauthorized, Code: "ticket_expired", Reason: "expired",
		Detail: "The ticket, or the credential that it was made for, has expired: ask for another one.",
	}},
	{ErrRevoked, &Refused{
		Status: http.StatusUnauthorized, Code: "ticket_revoked", Reason: "revoked",
		Detail: "The credential that the ticket was made for was revoked.",
	}},
}
