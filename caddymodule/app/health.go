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
	parts["bus"], parts["disk"] = busPart(s.bus), diskPart(a.space.Look())
	return health.New(settings.Version, s.node, time.Since(s.started), parts)
}

// serveHealth is GET /health/details on the control socket, where builds without the runtime have it.
func (a *App) serveHealth(w http.ResponseWriter, _ *http.Request) { a.answer(w, a.Health()) }

func busPart(b liveBus) health.Part {
	h := b.Health()
	p := health.Part{Status: health.OK, Kind: h.Kind, Since: h.Since.UTC()}
	if !h.Connected {
		p.Status, p.Reason = health.Degraded, h.Reason
	}
	return p
}
