package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"
	swgui "github.com/swaggest/swgui/v5emb"

	"github.com/svc-gateway/svc/internal/problem"
)

// describe makes the OpenAPI 3.1 document of the routes.
func describe(routes []route, version string) ([]byte, error) {
	r := openapi31.NewReflector()
	r.Spec.Info.WithTitle("svc").WithVersion(version).
		WithDescription("Runs of agents behind a security gateway. Every call needs a token of the service, but GET /health.")
	r.Spec.SetHTTPBearerTokenSecurity("token", "opaque", "a token of the service, svc_…")
	for _, rte := range routes {
		if err := describeRoute(r, rte); err != nil {
			return nil, fmt.Errorf("%s %s: %w", rte.method, rte.path, err)
		}
	}
	doc, err := json.Marshal(r.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return doc, nil
}

func describeRoute(r *openapi31.Reflector, rte route) error {
	op, err := r.NewOperationContext(rte.method, rte.path)
	if err != nil {
		return err
	}
	op.SetSummary(rte.summary)
	if rte.request != nil {
		op.AddReqStructure(rte.request)
	}
	op.AddRespStructure(rte.success.body, func(u *openapi.ContentUnit) {
		u.HTTPStatus, u.ContentType = rte.success.status, rte.success.media
		u.Description = http.StatusText(rte.success.status)
	})
	faults := append([]int{http.StatusInternalServerError}, rte.faults...)
	if !rte.open {
		op.AddSecurity("token")
		faults = append([]int{http.StatusUnauthorized, http.StatusForbidden}, faults...)
	}
	for _, status := range faults {
		op.AddRespStructure(new(problem.Problem), func(u *openapi.ContentUnit) {
			u.HTTPStatus, u.ContentType = status, problem.ContentType
			u.Description = http.StatusText(status)
		})
	}
	return r.AddOperation(op)
}

func (h *Handler) serveDocument(w http.ResponseWriter, _ *http.Request) { writeBody(w, h.document) }

// page is for people; all of it is served from the binary.
var page = swgui.New("svc", "/openapi.json", "/docs/")

func (h *Handler) servePage(w http.ResponseWriter, r *http.Request) { page.ServeHTTP(w, r) }
