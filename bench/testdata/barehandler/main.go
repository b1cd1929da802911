// Command barehandler is Caddy with one handler that writes an event and waits: the least that a
// waiting event stream costs in Caddy. It serves on the address that is its first argument, with
// Caddy's admin socket at its second. It is below testdata because only modules and the service
// import Caddy, and this is neither.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: barehandler ADDRESS ADMIN-SOCKET")
		os.Exit(2)
	}
	caddy.RegisterModule(waiting{})
	server := &caddyhttp.Server{
		Listen: []string{os.Args[1]}, AutoHTTPS: &caddyhttp.AutoHTTPSConfig{Disabled: true},
		Routes: caddyhttp.RouteList{{HandlersRaw: []json.RawMessage{
			caddyconfig.JSONModuleObject(waiting{}, "handler", "bench_waiting", nil),
		}}},
	}
	persist := false
	err := caddy.Run(&caddy.Config{
		Admin: &caddy.AdminConfig{Listen: "unix/" + os.Args[2] + "|0600", Config: &caddy.ConfigSettings{Persist: &persist}},
		AppsRaw: caddy.ModuleMap{
			"http": caddyconfig.JSON(caddyhttp.App{Servers: map[string]*caddyhttp.Server{"bench": server}}, nil),
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "barehandler:", err)
		os.Exit(1)
	}
	caddy.TrapSignals()
	select {}
}

// waiting is the handler.
type waiting struct{}

// CaddyModule returns the Caddy module information.
func (waiting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.bench_waiting", New: func() caddy.Module { return new(waiting) }}
}

// ServeHTTP writes an event and waits for the client to go.
func (waiting) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := w.Write([]byte("data: {}\n\n")); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	<-r.Context().Done()
	return nil
}
