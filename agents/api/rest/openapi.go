package rest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"github.com/svc-gateway/svc/internal/problem"
)

// Describe makes the OpenAPI 3.1 document of the routes.
func Describe(routes []Route, version string) ([]byte, error) {
	r := openapi31.NewReflector()
	r.Spec.Info.WithTitle("svc").WithVersion(version).
		WithDescription("Runs of agents behind a security gateway. Every call needs a token of the service, but GET /health.")
	r.Spec.SetHTTPBearerTokenSecurity("token", "opaque", "a token of the service, svc_…")
	for _, rte := range routes {
		if err := describe(r, rte); err != nil {
			return nil, fmt.Errorf("%s %s: %w", rte.Method, rte.Path, err)
		}
	}
	doc, err := json.Marshal(r.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return doc, nil
}

func describe(r *openapi31.Reflector, rte Route) error {
	op, err := r.NewOperationContext(rte.Method, rte.Path)
	if err != nil {
		return err
	}
	op.SetSummary(rte.Summary)
	if rte.Request != nil {
		op.AddReqStructure(rte.Request)
	}
	op.AddRespStructure(rte.Success.Body, func(u *openapi.ContentUnit) {
		u.HTTPStatus, u.ContentType = rte.Success.Status, rte.Success.Media
		u.Description = http.StatusText(rte.Success.Status)
	})
	faults := append([]int{http.StatusInternalServerError}, rte.Faults...)
	if !rte.Open {
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
