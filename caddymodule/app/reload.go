package app

import (
	"net/http"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
)

// reloader reads the configuration that the process was started with again, and loads it.
var reloader atomic.Pointer[func() error]

// SetReload says how the process reads its configuration again: POST /reload on the control socket.
// The program's main calls it when it knows.
func SetReload(f func() error) { reloader.Store(&f) }

// serveReload is POST /reload. The request outlives the app that answers it.
func (a *App) serveReload(w http.ResponseWriter, r *http.Request) {
	reload := reloader.Load()
	if reload == nil {
		problem.Write(w, r, problem.Problem{
			Status: http.StatusConflict, Code: "reload_unavailable",
			Detail: "the service was not started with web start or run, and does not know where its configuration comes from: use service reload",
		})
		return
	}
	if err := (*reload)(); err != nil {
		a.logger.Error("reloading the configuration", zap.Error(err))
		// The client is an admin on this machine, who may know what the configuration says.
		problem.Write(w, r, problem.Problem{Status: http.StatusUnprocessableEntity, Code: "configuration_refused", Detail: err.Error()})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
