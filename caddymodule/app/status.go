package app

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

func (a *App) serveStatus(w http.ResponseWriter, _ *http.Request) {
	s := cli.Status{
		PID: os.Getpid(), Addresses: a.addresses(), Version: settings.Version, Harness: compat.Version,
		Started: a.shared.started.UTC(), Home: a.home.Dir(), AuthMode: a.settings.Auth.Mode,
		Environment: map[string]string{},
	}
	for _, name := range cli.ListenEnv {
		if v, ok := os.LookupEnv(name); ok {
			s.Environment[name] = v
		}
	}
	select {
	case <-a.shared.stopping:
		s.Stopping = true
	default:
	}
	a.answer(w, s)
}

// serveSettings tells the settings with their origins, as config show does.
func (a *App) serveSettings(w http.ResponseWriter, _ *http.Request) { a.answer(w, a.values) }

// serveWhoami tells the local user as whom the control socket lets it act.
func (a *App) serveWhoami(w http.ResponseWriter, r *http.Request) {
	p, _ := policy.PrincipalFrom(r.Context())
	a.answer(w, p)
}

func (a *App) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.logger.Debug("answering on the control socket", zap.Error(err))
	}
}

// addresses lists the base URLs that the configuration's HTTP servers listen on, with
// unspecified hosts as they are.
func (a *App) addresses() []string {
	loaded, err := a.ctx.AppIfConfigured("http")
	if err != nil {
		return nil
	}
	h, ok := loaded.(*caddyhttp.App)
	if !ok {
		return nil
	}
	var all []string
	for _, s := range h.Servers {
		scheme := "http"
		if len(s.TLSConnPolicies) > 0 {
			scheme = "https"
		}
		for _, l := range s.Listen {
			na, err := caddy.ParseNetworkAddress(l)
			if err != nil || na.IsUnixNetwork() || na.IsFdNetwork() {
				continue
			}
			host := na.Host
			if host == "" {
				host = "0.0.0.0"
			}
			for port := na.StartPort; port <= na.EndPort; port++ {
				all = append(all, scheme+"://"+net.JoinHostPort(host, strconv.FormatUint(uint64(port), 10)))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
