package remotetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
)

// Runloop serves the API of Runloop.
func Runloop(f *Fleet) *Server {
	l := &runloop{f: f, executions: map[string]*execution{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/devboxes", l.create)
	mux.HandleFunc("GET /v1/devboxes", l.list)
	mux.HandleFunc("GET /v1/devboxes/{id}", l.with(l.get))
	mux.HandleFunc("POST /v1/devboxes/{id}/shutdown", l.with(l.shutdown))
	mux.HandleFunc("POST /v1/devboxes/{id}/execute_async", l.with(l.execute))
	mux.HandleFunc("GET /v1/devboxes/{id}/executions/{execution}", l.with(l.look))
	mux.HandleFunc("POST /v1/devboxes/{id}/executions/{execution}/kill", l.with(l.kill))
	mux.HandleFunc("POST /v1/devboxes/{id}/upload_file", l.with(l.upload))
	mux.HandleFunc("POST /v1/devboxes/{id}/download_file", l.with(l.download))
	return serve(f, front(f, mux, refuse))
}

type runloop struct {
	f *Fleet

	mu         sync.Mutex
	executions map[string]*execution
}

type execution struct {
	cmd  *exec.Cmd
	done bool
	code int
}

func refuse(w http.ResponseWriter, _ *http.Request, status int, message string) {
	answer(w, status, map[string]any{"code": status, "message": message})
}

func (l *runloop) with(next func(http.ResponseWriter, *http.Request, *Machine)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := l.f.machine(r.PathValue("id"))
		if m == nil {
			refuse(w, r, http.StatusNotFound, "no such devbox")
			return
		}
		next(w, r, m)
	}
}

func devbox(m *Machine, status string) map[string]any {
	return map[string]any{
		"id": m.ID, "name": m.ID, "status": status, "metadata": m.Labels, "create_time_ms": 1, "capabilities": []string{}, "launch_parameters": map[string]any{}, "state_transitions": []any{},
	}
}

func (l *runloop) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Metadata map[string]string `json:"metadata"`
		Launch   struct {
			KeepAlive int    `json:"keep_alive_time_seconds"`
			Policy    string `json:"network_policy_id"`
		} `json:"launch_parameters"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Launch.KeepAlive < 60 {
		refuse(w, r, http.StatusBadRequest, "a devbox that nobody shuts down must end by itself")
		return
	}
	m := l.f.Add(in.Metadata)
	m.Offline, m.Made = in.Launch.Policy != "", in
	if l.f.broken().LostCreate {
		cut()
	}
	answer(w, http.StatusOK, devbox(m, "provisioning"))
}

func (l *runloop) get(w http.ResponseWriter, _ *http.Request, m *Machine) {
	status := "initializing"
	if l.f.ready(m) {
		status = "running"
	}
	answer(w, http.StatusOK, devbox(m, status))
}

// list answers in pages of one devbox, those that run.
func (l *runloop) list(w http.ResponseWriter, r *http.Request) {
	all, after := []any{}, r.URL.Query().Get("starting_after")
	if r.URL.Query().Get("status") == "running" && !l.f.broken().HideFromAll {
		for _, id := range l.f.Left() {
			if m := l.f.machine(id); m != nil && id > after {
				all = append(all, devbox(m, "running"))
			}
		}
	}
	more := len(all) > 1
	answer(w, http.StatusOK, map[string]any{"devboxes": all[:min(1, len(all))], "has_more": more, "total_count": len(all), "remaining_count": max(0, len(all)-1)})
}

func (l *runloop) shutdown(w http.ResponseWriter, r *http.Request, m *Machine) {
	if !l.f.remove(m.ID) {
		refuse(w, r, http.StatusInternalServerError, "the devbox does not answer")
		return
	}
	answer(w, http.StatusOK, devbox(m, "shutdown"))
}

func (l *runloop) execute(w http.ResponseWriter, r *http.Request, m *Machine) {
	var in struct {
		Command string `json:"command"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Command == "" {
		refuse(w, r, http.StatusBadRequest, "command is required")
		return
	}
	e := &execution{cmd: m.command([]string{"bash", "-c", in.Command})}
	if err := m.start(e.cmd); err != nil {
		refuse(w, r, http.StatusConflict, err.Error())
		return
	}
	l.mu.Lock()
	id := fmt.Sprintf("exec-%d", len(l.executions)+1)
	l.executions[id] = e
	l.mu.Unlock()
	go func() {
		code, _ := m.wait(e.cmd)
		l.mu.Lock()
		defer l.mu.Unlock()
		e.done, e.code = true, code
	}()
	l.answer(w, m, id, e)
}

func (l *runloop) answer(w http.ResponseWriter, m *Machine, id string, e *execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := map[string]any{"devbox_id": m.ID, "execution_id": id, "status": "running", "stdout": "", "stderr": ""}
	if e.done {
		v["status"], v["exit_status"] = "completed", e.code
	}
	answer(w, http.StatusOK, v)
}

func (l *runloop) execution(r *http.Request) *execution {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executions[r.PathValue("execution")]
}

func (l *runloop) look(w http.ResponseWriter, r *http.Request, m *Machine) {
	e := l.execution(r)
	if e == nil {
		refuse(w, r, http.StatusNotFound, "no such execution")
		return
	}
	if strings.Contains(e.cmd.String(), "run.sh") && l.f.take(func(x *Faults) *int { return &x.LostExec }) {
		cut()
	}
	l.answer(w, m, r.PathValue("execution"), e)
}

func (l *runloop) kill(w http.ResponseWriter, r *http.Request, m *Machine) {
	e := l.execution(r)
	if e == nil {
		refuse(w, r, http.StatusNotFound, "no such execution")
		return
	}
	m.kill(e.cmd)
	l.answer(w, m, r.PathValue("execution"), e)
}

func (l *runloop) upload(w http.ResponseWriter, r *http.Request, m *Machine) {
	file, _, err := r.FormFile("file")
	if err == nil {
		err = m.write(r.FormValue("path"), file)
	}
	if err != nil {
		refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	answer(w, http.StatusOK, map[string]any{})
}

func (l *runloop) download(w http.ResponseWriter, r *http.Request, m *Machine) {
	var in struct {
		Path string `json:"path"`
	}
	if n := l.f.broken().BigAnswer; n > 0 {
		fill(w, n)
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	file, err := m.open(in.Path)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	defer func() { _ = file.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.Copy(w, file)
}
