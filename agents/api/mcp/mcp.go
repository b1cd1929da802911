package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
)

// Path is where clients are served.
const Path = "/mcp"

// dialect serves it.
type dialect struct {
	*rest.Server
	seals   *seals
	origins *http.CrossOriginProtection
	handler http.Handler
}

// Message is a message of a client.
type Message struct {
	JSONRPC string         `json:"jsonrpc" required:"true" enum:"2.0"`
	ID      any            `json:"id,omitempty"`
	Method  string         `json:"method" required:"true"`
	Params  map[string]any `json:"params,omitempty"`
}

// Routes are the endpoints.
func Routes(s *rest.Server) ([]rest.Route, error) {
	d := &dialect{Server: s, origins: http.NewCrossOriginProtection()}
	if s != nil {
		var err error
		if d.seals, err = newSeals(s.Options.StateKey); err != nil {
			return nil, err
		}
		for _, o := range s.Options.Origins {
			if o == "*" { // any page may ask, with a token of its user's
				d.origins.AddInsecureBypassPattern("/")
				continue
			}
			if err := d.origins.AddTrustedOrigin(o); err != nil {
				return nil, fmt.Errorf("cors.origins: %w", err)
			}
		}
	}
	d.handler = sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, Logger: slog.New(slog.DiscardHandler),
		DisableLocalhostProtection:   true,                          // nobody gets here without a principal, whatever the host is called
		PropagateRequestCancellation: true, MaxRequestBodyBytes: -1, // bounded here
	})
	return []rest.Route{{
		Method: http.MethodPost, Path: Path, Action: policy.Use,
		Summary: "Model Context Protocol: list and call tools",
		Success: rest.JSON(new(Message)), Faults: []int{400, 413, 415}, Lasting: true,
		Serve: d.serve,
	}}, nil
}

type serverKey struct{}

// serverOf is the server that serve has made for a request.
func serverOf(r *http.Request) *sdk.Server {
	s, _ := r.Context().Value(serverKey{}).(*sdk.Server)
	return s
}

// serve answers one request. The library sees only what has passed the checks here.
func (d *dialect) serve(w http.ResponseWriter, r *http.Request) {
	if err := d.origins.Check(r); err != nil {
		refuse(w, r, http.StatusForbidden, "origin_forbidden", "a page of another origin asks: list it in the setting cors.origins")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, d.Options.BodyBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		refuse(w, r, http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("the body has more than %d bytes (setting limits.body_bytes)", d.Options.BodyBytes))
		return
	}
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "truncated_json", "the body could not be read")
		return
	}
	doc, err := strictjson.Object(body)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "invalid_json", "want one JSON-RPC message: "+err.Error())
		return
	}
	if why := contradicted(r.Header, doc); why != "" {
		mismatch(w, doc["id"], why)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), serverKey{}, d.server(r)))
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.handler.ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, r *http.Request, status int, code, detail string) {
	problem.Write(w, r, problem.Problem{Status: status, Code: code, Detail: detail})
}

// contradicted says which header tells another thing than the body: somebody on the way may have decided by
// the header. Headers that are not there tell nothing.
func contradicted(h http.Header, doc map[string]any) string {
	params, _ := doc["params"].(map[string]any)
	for name, in := range map[string]any{"Mcp-Method": doc["method"], "Mcp-Name": params["name"]} {
		values := h.Values(name)
		if len(values) > 1 || len(values) == 1 && (in == nil || values[0] != in) {
			return "the header " + name + " contradicts the body"
		}
	}
	return ""
}

// mismatch answers as the protocol says.
func mismatch(w http.ResponseWriter, id any, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that has gone needs no answer
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": sdk.CodeHeaderMismatch, "message": why},
	})
}

// server is what one request can see: the tools that its caller may have called.
func (d *dialect) server(r *http.Request) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "svc", Version: d.Options.Version}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, Logger: slog.New(slog.DiscardHandler), PageSize: 1000,
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs, c.CacheScope = 0, "private" },
	})
	listed := map[string]bool{}
	for _, t := range d.View(r).Tools(Agent) {
		listed[t.Name] = true
		s.AddTool(&sdk.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return d.callTool(r, req)
		})
	}
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
			defer func() {
				if p := recover(); p != nil { // on a goroutine of the library's, whose end would be the program's
					d.log().Error("an MCP request panicked", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
					res, err = nil, errors.New("internal error")
				}
			}()
			if c, ok := req.(*sdk.CallToolRequest); ok && !listed[c.Params.Name] { // that goes on record, too
				return d.callTool(r, c)
			}
			return next(ctx, method, req)
		}
	})
	return s
}

func (d *dialect) log() *zap.Logger {
	if d.Options.Log == nil {
		return zap.NewNop()
	}
	return d.Options.Log
}

// elicits reports whether a client can be asked to ask its user: it says so in each request.
func elicits(req *sdk.CallToolRequest) bool {
	version, _ := req.Params.Meta[sdk.MetaKeyProtocolVersion].(string)
	capabilities, _ := req.Params.Meta[sdk.MetaKeyClientCapabilities].(map[string]any)
	elicitation, ok := capabilities["elicitation"].(map[string]any)
	if !ok || version < "2026-07-28" || !slices.Contains(sdk.SupportedProtocolVersions(), version) {
		return false
	}
	_, form := elicitation["form"]
	return form || len(elicitation) == 0
}
