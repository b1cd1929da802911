package rest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/swaggest/jsonschema-go"
	"github.com/swaggest/openapi-go"
	"github.com/swaggest/openapi-go/openapi31"

	"github.com/svc-gateway/svc/internal/problem"
)

// Describe makes the OpenAPI 3.1 document of endpoints, each in the dialects that it is served in.
func Describe(endpoints [][]Route, version string) ([]byte, error) {
	r := openapi31.NewReflector()
	r.Spec.Info.WithTitle("svc").WithVersion(version).
		WithDescription("Runs of agents behind a security gateway. Every call needs a token of the service, but GET /health.")
	r.Spec.SetHTTPBearerTokenSecurity("token", "opaque", "a token of the service, svc_…")
	for _, dialects := range endpoints {
		if err := describe(r, dialects); err != nil {
			return nil, fmt.Errorf("%s %s: %w", dialects[0].Method, dialects[0].Path, err)
		}
	}
	doc, err := json.Marshal(r.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return doc, nil
}

// describe adds an endpoint. Where it is served in two dialects, bodies are of one or the other.
func describe(r *openapi31.Reflector, dialects []Route) error {
	rte := dialects[0]
	op, err := r.NewOperationContext(rte.Method, rte.Path)
	if err != nil {
		return err
	}
	summary, request, success := rte.Summary, []any{}, []any{}
	for i, d := range dialects {
		if i > 0 {
			summary += "; or: " + d.Summary
		}
		request, success = append(request, d.Request), append(success, d.Success.Body)
	}
	op.SetSummary(summary)
	if rte.Request != nil {
		op.AddReqStructure(rte.Request)
	}
	body := rte.Success.Body
	if len(dialects) > 1 {
		op.AddReqStructure(jsonschema.OneOf(request...), openapi.WithContentType(MediaJSON))
		body = jsonschema.AnyOf(success...)
	}
	op.AddRespStructure(body, func(u *openapi.ContentUnit) {
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
