package remotetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Daytona serves the API of Daytona: what the public client asks of /api, and the toolbox that the
// sandboxes name.
func Daytona(f *Fleet) *Server {
	d := &daytona{f: f}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/sandbox", d.create)
	mux.HandleFunc("GET /api/sandbox", d.list)
	mux.HandleFunc("GET /api/sandbox/{id}", d.with(d.get))
	mux.HandleFunc("DELETE /api/sandbox/{id}", d.with(d.remove))
	mux.HandleFunc("POST /toolbox/{id}/process/execute", d.with(d.execute))
	mux.HandleFunc("POST /toolbox/{id}/files/upload", d.with(d.upload))
	mux.HandleFunc("GET /toolbox/{id}/files/download", d.with(d.download))
	s := serve(f, front(f, mux, deny))
	d.toolbox = s.URL + "/toolbox"
	s.URL += "/api"
	return s
}

type daytona struct {
	f       *Fleet
	toolbox string
}

// deny is an error in the form of the API and of the daemon in a sandbox.
func deny(w http.ResponseWriter, r *http.Request, status int, message string) {
	answer(w, status, map[string]any{
		"statusCode": status, "message": message, "error": http.StatusText(status), "path": r.URL.Path, "method": r.Method, "timestamp": time.Now().UTC().Format(time.RFC3339),
	})
}

func (d *daytona) with(next func(http.ResponseWriter, *http.Request, *Machine)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := d.f.machine(r.PathValue("id"))
		if m == nil {
			deny(w, r, http.StatusNotFound, "Sandbox not found")
			return
		}
		next(w, r, m)
	}
}

func (d *daytona) view(m *Machine, state string) map[string]any {
	toolbox := d.f.broken().Toolbox
	if toolbox == "" {
		toolbox = d.toolbox
	}
	return map[string]any{
		"id": m.ID, "name": m.ID, "organizationId": "org", "user": "daytona", "env": map[string]string{}, "labels": m.Labels, "public": false,
		"networkBlockAll": m.Offline, "target": "eu", "cpu": 1, "gpu": 0, "memory": 1, "disk": 3, "state": state, "toolboxProxyUrl": toolbox,
	}
}

func (d *daytona) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Labels     map[string]string `json:"labels"`
		BlockAll   bool              `json:"networkBlockAll"`
		AutoStop   *int              `json:"autoStopInterval"`
		AutoDelete *int              `json:"autoDeleteInterval"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.AutoStop == nil || *in.AutoStop <= 0 || in.AutoDelete == nil || *in.AutoDelete != 0 {
		deny(w, r, http.StatusBadRequest, "a sandbox that nobody deletes must stop by itself and go then")
		return
	}
	m := d.f.Add(in.Labels)
	m.Offline, m.Made = in.BlockAll, in
	if d.f.broken().LostCreate {
		cut()
	}
	answer(w, http.StatusOK, d.view(m, "creating"))
}

func (d *daytona) get(w http.ResponseWriter, _ *http.Request, m *Machine) {
	state := "creating"
	if d.f.ready(m) {
		state = "started"
	}
	answer(w, http.StatusOK, d.view(m, state))
}

// list answers in pages of one sandbox.
func (d *daytona) list(w http.ResponseWriter, r *http.Request) {
	want := map[string]string{}
	if err := json.Unmarshal([]byte(r.URL.Query().Get("labels")), &want); err != nil {
		deny(w, r, http.StatusBadRequest, "labels must be JSON")
		return
	}
	page := map[string]any{"items": []any{}}
	after := r.URL.Query().Get("cursor")
	for _, id := range d.f.Left() {
		m := d.f.machine(id)
		if m == nil || id <= after || d.f.broken().HideFromAll || !has(m.Labels, want) {
			continue
		}
		page["items"], page["nextCursor"] = []any{d.view(m, "started")}, id
		break
	}
	answer(w, http.StatusOK, page)
}

func has(labels, want map[string]string) bool {
	for k, v := range want {
		if labels[k] != v {
			return false
		}
	}
	return true
}

func (d *daytona) remove(w http.ResponseWriter, r *http.Request, m *Machine) {
	if !d.f.remove(m.ID) {
		deny(w, r, http.StatusInternalServerError, "the runner does not answer")
		return
	}
	answer(w, http.StatusOK, d.view(m, "destroying"))
}

// execute runs a command until its end or its time is over, whether or not somebody waits.
func (d *daytona) execute(w http.ResponseWriter, r *http.Request, m *Machine) {
	var in struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Command == "" {
		deny(w, r, http.StatusBadRequest, "command is required")
		return
	}
	var out bytes.Buffer
	cmd := m.command(words(in.Command))
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := m.start(cmd); err != nil {
		answer(w, http.StatusOK, map[string]any{"exitCode": -1, "result": err.Error()})
		return
	}
	if strings.Contains(in.Command, "run.sh") && d.f.take(func(x *Faults) *int { return &x.LostExec }) {
		go m.wait(cmd)
		cut()
	}
	stopped := false
	timer := time.AfterFunc(time.Duration(in.Timeout)*time.Second, func() { stopped = true; _ = cmd.Process.Kill() })
	code, signal := m.wait(cmd)
	switch {
	case !timer.Stop() && stopped:
		deny(w, r, http.StatusRequestTimeout, "command execution timeout")
	case signal != 0:
		answer(w, http.StatusOK, map[string]any{"exitCode": -1, "result": out.String()})
	default:
		answer(w, http.StatusOK, map[string]any{"exitCode": code, "result": out.String()})
	}
}

// words are those of a command, as a daemon that knows quotes and nothing else of a shell sees them.
func words(command string) (all []string) {
	var word strings.Builder
	quote, any := rune(0), false
	for _, c := range command + " " {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, any = c, true
		case quote == 0 && c == ' ':
			if any || word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(c)
		}
	}
	return all
}

func (d *daytona) upload(w http.ResponseWriter, r *http.Request, m *Machine) {
	file, _, err := r.FormFile("file")
	if err == nil {
		err = m.write(r.URL.Query().Get("path"), file)
	}
	if err != nil {
		deny(w, r, http.StatusBadRequest, err.Error())
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (d *daytona) download(w http.ResponseWriter, r *http.Request, m *Machine) {
	if n := d.f.broken().BigAnswer; n > 0 {
		fill(w, n)
		return
	}
	file, err := m.open(r.URL.Query().Get("path"))
	if err != nil {
		deny(w, r, http.StatusNotFound, "file not found")
		return
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		deny(w, r, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	_, _ = io.Copy(w, file)
}
