package api

import (
	"net/http"

	swgui "github.com/swaggest/swgui/v5emb"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// pages are the endpoints that describe all of them.
func (h *Handler) pages() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/openapi.json", Action: policy.Use, Summary: "This document",
			Success: rest.JSON(new(map[string]any)),
			Serve:   func(w http.ResponseWriter, _ *http.Request) { rest.WriteBody(w, h.document) },
		},
		{
			Method: http.MethodGet, Path: "/docs", Action: policy.Use, Summary: "This document as a page to try things out",
			Success: rest.Reply{Status: http.StatusOK, Media: "text/html", Body: new(string)},
			Serve:   servePage,
		},
	}
}

// page is for people; all of it is served from the binary.
var page = swgui.New("svc", "/openapi.json", "/docs/")

func servePage(w http.ResponseWriter, r *http.Request) { page.ServeHTTP(w, r) }
