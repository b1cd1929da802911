package app

import (
	"net/http"
	"time"

	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
)

// Health says how the parts of the service are.
func (a *App) Health() health.Details {
	s := a.shared
	parts := s.watched.parts()
	parts["bus"], parts["disk"], parts["policy"] = busPart(s.bus), diskPart(a.space.Look()), s.policies.part()
	if a.archives() {
		parts["archive"] = a.archive.part(s.started)
	}
	if a.directory != nil {
		since, reason := a.directory.Health()
		parts["ldap"] = a.sourcePart("ldap", since, reason)
	}
	if a.issuers != nil {
		for _, h := range a.issuers.Health() {
			parts["oidc."+h.Name] = a.sourcePart("oidc", h.Since, h.Reason)
		}
	}
	return health.New(settings.Version, s.node, time.Since(s.started), parts)
}

// sourcePart is a source of users. One that was not asked yet is none the worse for it.
func (a *App) sourcePart(kind string, since time.Time, reason string) health.Part {
	if since.IsZero() {
		since = a.shared.started
	}
	return health.NewPart(kind, since, reason)
}

// serveHealth is GET /health/details on the control socket, where builds without the runtime have it.
func (a *App) serveHealth(w http.ResponseWriter, _ *http.Request) { a.answer(w, a.Health()) }

func busPart(b liveBus) health.Part {
	h := b.Health()
	return health.NewPart(h.Kind, h.Since, h.Reason)
}
