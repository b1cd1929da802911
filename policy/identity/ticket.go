package identity

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// TicketLife is how long a ticket lets somebody in.
const TicketLife = 30 * time.Second

const ticketPrefix = "svct_"

// ErrTicketUsed means that somebody came in with the ticket before.
var ErrTicketUsed = errors.New("used ticket")

// ticket is what is encrypted: who holds it, and until when.
type ticket struct {
	ID        string           `json:"id"`
	Principal policy.Principal `json:"principal"`
	Until     time.Time        `json:"until"`
}

// Ticket returns a ticket with which p can open one connection within [TicketLife], where no header can
// be sent: the WebSocket of a browser. It is good for as long as the credential that p came with.
func (s *Service) Ticket(p policy.Principal) (Secret, error) {
	aead, err := s.seal.cipher()
	if err != nil {
		return "", err
	}
	p.Address, p.RequestID = "", "" // of the request that asks for it
	doc, err := json.Marshal(ticket{rand.Text(), p, time.Now().Add(TicketLife)})
	if err != nil {
		return "", fmt.Errorf("making a ticket: %w", err)
	}
	return Secret(ticketPrefix + base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, doc, []byte(ticketPrefix)))), nil
}

// Redeem returns who holds a ticket, as of now, and uses it up. The error is [ErrMalformed],
// [ErrTicketUsed], [ErrExpired], [ErrRevoked], or a technical one.
func (s *Service) Redeem(ctx context.Context, text string) (policy.Principal, error) {
	aead, err := s.seal.cipher()
	if err != nil {
		return policy.Principal{}, err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, ticketPrefix))
	if err != nil {
		return policy.Principal{}, ErrMalformed
	}
	doc, err := aead.Open(nil, nil, sealed, []byte(ticketPrefix))
	if err != nil {
		return policy.Principal{}, ErrMalformed
	}
	var t ticket
	if err := json.Unmarshal(doc, &t); err != nil {
		return policy.Principal{}, ErrMalformed
	}
	if !time.Now().Before(t.Until) {
		return policy.Principal{}, ErrExpired
	}
	n, _, err := s.bus.Count(ctx, "ticket."+t.ID, 1, 2*TicketLife)
	switch {
	case err != nil:
		return policy.Principal{}, fmt.Errorf("using a ticket: %w", err)
	case n > 1:
		return policy.Principal{}, ErrTicketUsed
	}
	return s.Resolve(ctx, t.Principal)
}
